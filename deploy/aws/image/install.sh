#!/bin/sh
# Makes a machine image of Amazon Linux 2023: Node, Plimsoll with what it needs of the AWS SDK, and the service of the
# balancer, which stays off until user data turns it on. PLIMSOLL_PACKAGE: what npm installs.
set -eu

node_version=24.21.0
architecture=$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')
archive="node-v$node_version-linux-$architecture.tar.xz"

dnf install -y tar xz util-linux
cd /tmp
curl -fsSLO "https://nodejs.org/dist/v$node_version/$archive"
curl -fsSL "https://nodejs.org/dist/v$node_version/SHASUMS256.txt" | grep " $archive\$" | sha256sum --check -
tar -xJf "$archive" --strip-components=1 -C /usr/local
rm "$archive"

npm install --global "$PLIMSOLL_PACKAGE" @aws-sdk/client-ec2 @aws-sdk/client-cloudwatch @aws-sdk/client-dynamodb \
  @aws-sdk/client-lambda

useradd --system --home-dir /var/lib/plimsoll --shell /usr/sbin/nologin plimsoll
cat > /etc/systemd/system/plimsoll.service <<'UNIT'
[Unit]
Description=Plimsoll, a load balancer and autoscaler that knows what each request will cost
After=network-online.target
Wants=network-online.target

[Service]
Type=exec
User=plimsoll
Group=plimsoll
EnvironmentFile=/etc/plimsoll/environment
ExecStart=/usr/local/bin/plimsoll up --data /var/lib/plimsoll $PLIMSOLL_OPTIONS
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=2
KillMode=mixed
TimeoutStopSec=45
StateDirectory=plimsoll
StateDirectoryMode=0700
Environment=NODE_ENV=production
LimitNOFILE=65536
NoNewPrivileges=yes
AmbientCapabilities=CAP_NET_BIND_SERVICE
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes

[Install]
WantedBy=multi-user.target
UNIT
