# The machine image of balancer and workers, for those who use Packer in place of EC2 Image Builder. It runs the same script.
# packer init . && packer build -var region=eu-central-1 .

packer {
  required_plugins {
    amazon = {
      source  = "github.com/hashicorp/amazon"
      version = ">= 1.3.0"
    }
  }
}

variable "region" {
  type = string
}

variable "name" {
  type    = string
  default = "plimsoll"
}

variable "instance_type" {
  type    = string
  default = "t3.micro"
}

variable "package" {
  type        = string
  description = "What npm installs."
  default     = "plimsoll"
}

source "amazon-ebs" "plimsoll" {
  region          = var.region
  instance_type   = var.instance_type
  ami_name        = "${var.name}-{{timestamp}}"
  ami_description = "Plimsoll: balancer and workers"
  encrypt_boot    = true
  imds_support    = "v2.0"
  ssh_username    = "ec2-user"

  source_ami_filter {
    owners      = ["amazon"]
    most_recent = true
    filters = {
      name                = "al2023-ami-2023.*-kernel-*-x86_64"
      root-device-type    = "ebs"
      virtualization-type = "hvm"
    }
  }

  metadata_options {
    http_endpoint               = "enabled"
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }

  tags = {
    plimsoll = var.name
  }
}

build {
  sources = ["source.amazon-ebs.plimsoll"]

  provisioner "shell" {
    script           = "${path.root}/../image/install.sh"
    environment_vars = ["PLIMSOLL_PACKAGE=${var.package}"]
    execute_command  = "sudo env {{ .Vars }} sh {{ .Path }}"
  }
}
