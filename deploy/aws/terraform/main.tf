# The stack of the CDK app, for those who keep their infrastructure in Terraform. `node app.ts` writes the template;
# `aws cloudformation package` puts the code of the functions into a bucket (see ../setup.sh).

terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

variable "name" {
  type        = string
  description = "The name in cluster.json."
}

variable "template" {
  type        = string
  description = "The packaged template, a file of at most 51,200 bytes."
  default     = "../cluster.packaged.yaml"
}

variable "image" {
  type        = string
  description = "The machine image that Packer or Image Builder has made."
}

resource "aws_cloudformation_stack" "cluster" {
  name          = var.name
  template_body = file("${path.module}/${var.template}")
  capabilities  = ["CAPABILITY_IAM"]
  parameters = {
    Image = var.image
  }
  tags = {
    plimsoll = var.name
  }
}

output "url" {
  value = aws_cloudformation_stack.cluster.outputs["Url"]
}
