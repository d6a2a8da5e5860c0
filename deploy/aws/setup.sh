#!/usr/bin/env bash
# Builds the machine image and the code of the functions, and launches the cluster that cluster.json describes.
# Repeated, it changes only what differs. Needs Node 24, npm and the AWS CLI with credentials. ./setup.sh [cluster.json]
set -euo pipefail
cd "$(dirname "$0")"
config=${1:-cluster.json}
poll_seconds=${PLIMSOLL_POLL_SECONDS:-30}
mkdir -p logs
exec > >(tee -a logs/setup.log) 2>&1
say() { printf '%s setup: %s\n' "$(date -u +%FT%TZ)" "$*"; }

if [ ! -f "$config" ]; then
  say "$config: no such file; copy cluster.example.json and change it"
  exit 2
fi
[ -d node_modules ] || npm ci --ignore-scripts --no-audit --no-fund
read -r name region package < <(node app.ts "$config" .)
export AWS_REGION=$region AWS_DEFAULT_REGION=$region AWS_PAGER=
account=$(aws sts get-caller-identity --query Account --output text)
bucket=$name-code-$account-$region

deploy() { # STACK TEMPLATE [PARAMETERS]
  local stack=$1 template=$2
  shift 2
  aws cloudformation deploy --stack-name "$stack" --template-file "$template" --capabilities CAPABILITY_IAM \
    --no-fail-on-empty-changeset --tags "plimsoll=$name" "$@"
}
output() { # STACK KEY
  aws cloudformation describe-stacks --stack-name "$1" --output text \
    --query "Stacks[0].Outputs[?OutputKey=='$2'].OutputValue"
}

say "machine image: stack $name-image"
deploy "$name-image" image.template.json
pipeline=$(output "$name-image" PipelineArn)
newest() {
  aws imagebuilder list-image-pipeline-images --image-pipeline-arn "$pipeline" --output text \
    --query "sort_by(imageSummaryList[?state.status=='AVAILABLE'], &dateCreated)[-1].outputResources.amis[0].image"
}
image=$(newest)
if [ "$image" = None ] || [ -z "$image" ]; then
  build=$(aws imagebuilder start-image-pipeline-execution --image-pipeline-arn "$pipeline" \
    --query imageBuildVersionArn --output text)
  say "machine image: building $build; this takes about 20 minutes"
  while :; do
    status=$(aws imagebuilder get-image --image-build-version-arn "$build" --query image.state.status --output text)
    case $status in
      AVAILABLE) break ;;
      FAILED | CANCELLED | DELETED)
        say "machine image: $status; see the pipeline in the console of EC2 Image Builder"
        exit 1
        ;;
    esac
    sleep "$poll_seconds"
  done
  image=$(newest)
fi
say "machine image: $image"

say "functions: code of $package"
rm -rf build/functions
mkdir -p build/functions
cp functions/index.mjs build/functions/
npm install --prefix build/functions --omit=dev --ignore-scripts --no-audit --no-fund "$package"
if ! aws s3api head-bucket --bucket "$bucket" 2> /dev/null; then
  aws s3 mb "s3://$bucket"
  aws s3api put-public-access-block --bucket "$bucket" --public-access-block-configuration \
    BlockPublicAcls=true,IgnorePublicAcls=true,BlockPublicPolicy=true,RestrictPublicBuckets=true
fi
aws cloudformation package --template-file cluster.template.json --s3-bucket "$bucket" \
  --output-template-file cluster.packaged.yaml > /dev/null

say "cluster: stack $name"
deploy "$name" cluster.packaged.yaml --parameter-overrides "Image=$image"
say "cluster: $(output "$name" Url); ./teardown.sh removes it"
