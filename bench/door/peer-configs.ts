/** Configurations of nginx, HAProxy and Envoy for speed: kept-alive upstream connections, no access log, no retries. */

export interface Ports {
  port: number
  upstreamPort: number
  /** nginx only. */
  workers: number
  folder: string
}

export function nginxConfig({ port, upstreamPort, workers, folder }: Ports): string {
  // With one process, no master is needed.
  const processes = workers === 1 ? 'master_process off;' : `worker_processes ${workers};`
  return `
daemon off;
${processes}
pid ${folder}/pid;
error_log ${folder}/error.log warn;
events { worker_connections 4000; }
http {
    access_log off;
    tcp_nodelay on;
    keepalive_timeout 1h;
    keepalive_requests 1000000000;
    client_body_temp_path ${folder}/body;
    proxy_temp_path ${folder}/proxy;
    fastcgi_temp_path ${folder}/fastcgi;
    uwsgi_temp_path ${folder}/uwsgi;
    scgi_temp_path ${folder}/scgi;
    upstream server {
        server 127.0.0.1:${upstreamPort} max_fails=0;
        keepalive 256;
        keepalive_requests 1000000000;
    }
    server {
        listen 127.0.0.1:${port} reuseport;
        location / {
            proxy_pass http://server;
            proxy_http_version 1.1;
            proxy_set_header connection "";
            proxy_buffer_size 16k;
            proxy_buffers 16 64k;
            proxy_busy_buffers_size 128k;
            proxy_max_temp_file_size 0;
            proxy_next_upstream off;
        }
    }
}
`
}

export function haproxyConfig({ port, upstreamPort }: Ports): string {
  return `
global
    nbthread 1

defaults
    mode http
    option http-keep-alive
    http-reuse always
    timeout connect 10s
    timeout client 1h
    timeout server 1h
    timeout http-keep-alive 1h

listen door
    bind 127.0.0.1:${port}
    server one 127.0.0.1:${upstreamPort} pool-max-conn -1
`
}

export function envoyConfig({ port, upstreamPort }: Ports): string {
  const address = (at: number) => ({ socket_address: { address: '127.0.0.1', port_value: at } })
  const manager = {
    '@type':
      'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
    stat_prefix: 'door',
    generate_request_id: false,
    route_config: {
      virtual_hosts: [
        {
          name: 'all',
          domains: ['*'],
          routes: [{ match: { prefix: '/' }, route: { cluster: 'server', timeout: '0s' } }],
        },
      ],
    },
    http_filters: [
      {
        name: 'envoy.filters.http.router',
        typed_config: {
          '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router',
          dynamic_stats: false,
          suppress_envoy_headers: true,
        },
      },
    ],
  }
  const filters = [{ name: 'envoy.filters.network.http_connection_manager', typed_config: manager }]
  const endpoints = [{ lb_endpoints: [{ endpoint: { address: address(upstreamPort) } }] }]
  return JSON.stringify({
    static_resources: {
      listeners: [{ name: 'door', address: address(port), filter_chains: [{ filters }] }],
      clusters: [
        {
          name: 'server',
          type: 'STATIC',
          connect_timeout: '10s',
          load_assignment: { cluster_name: 'server', endpoints },
        },
      ],
    },
  })
}
