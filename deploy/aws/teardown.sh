#!/usr/bin/env bash
# Removes everything that setup.sh has made, and the workers that the balancer has launched. What is already gone is
# skipped, so it can be repeated. The tables and what they hold are deleted too. ./teardown.sh [cluster.json]
set -euo pipefail
cd "$(dirname "$0")"
config=${1:-cluster.json}
mkdir -p logs
exec > >(tee -a logs/teardown.log) 2>&1
say() { printf '%s teardown: %s\n' "$(date -u +%FT%TZ)" "$*"; }

if [ ! -f "$config" ]; then
  say "$config: no such file; it names the cluster to remove"
  exit 2
fi
[ -d node_modules ] || npm ci --ignore-scripts --no-audit --no-fund
read -r name region _ < <(node app.ts "$config" .)
export AWS_REGION=$region AWS_DEFAULT_REGION=$region AWS_PAGER=
account=$(aws sts get-caller-identity --query Account --output text)
bucket=$name-code-$account-$region

exists() { aws cloudformation describe-stacks --stack-name "$1" > /dev/null 2>&1; }
remove() { # STACK
  exists "$1" || return 0
  say "stack $1"
  aws cloudformation delete-stack --stack-name "$1"
  aws cloudformation wait stack-delete-complete --stack-name "$1"
}

terminate() { # TAG: ends the instances that have it with the name of the cluster
  local ids
  ids=$(aws ec2 describe-instances --output text --query 'Reservations[].Instances[].InstanceId' --filters \
    "Name=tag:$1,Values=$name" Name=instance-state-name,Values=pending,running,stopping,stopped)
  [ -n "$ids" ] || return 0
  say "instances $ids"
  # One argument for each instance.
  # shellcheck disable=SC2086
  aws ec2 terminate-instances --instance-ids $ids > /dev/null
  # shellcheck disable=SC2086
  aws ec2 wait instance-terminated --instance-ids $ids
}
# The balancer first: it would replace the workers.
terminate plimsoll:balancer
terminate plimsoll:cluster
remove "$name"

if exists "$name-image"; then
  pipeline=$(aws cloudformation describe-stacks --stack-name "$name-image" --output text \
    --query "Stacks[0].Outputs[?OutputKey=='PipelineArn'].OutputValue")
  aws imagebuilder list-image-pipeline-images --image-pipeline-arn "$pipeline" --output text \
    --query 'imageSummaryList[].[arn, outputResources.amis[0].image]' | while read -r build image; do
    if [ -z "$build" ] || [ "$build" = None ]; then continue; fi
    say "machine image $image"
    if [ "$image" != None ]; then
      snapshots=$(aws ec2 describe-images --image-ids "$image" --output text \
        --query 'Images[].BlockDeviceMappings[].Ebs.SnapshotId' 2> /dev/null || true)
      aws ec2 deregister-image --image-id "$image" || true
      for snapshot in $snapshots; do aws ec2 delete-snapshot --snapshot-id "$snapshot" || true; done
    fi
    aws imagebuilder delete-image --image-build-version-arn "$build" > /dev/null
  done
fi
remove "$name-image"

if aws s3api head-bucket --bucket "$bucket" 2> /dev/null; then
  say "bucket $bucket"
  aws s3 rb "s3://$bucket" --force > /dev/null
fi
say "nothing of $name is left"
