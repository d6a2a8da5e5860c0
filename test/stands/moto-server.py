"""Starts moto's server, with the deletion of route tables by CloudFormation, which it lacks. Arguments: moto_server's."""

from moto.ec2.models.route_tables import RouteTable
from moto.server import main


def delete(self, account_id, region):
    self._associations.clear()
    self.ec2_backend.delete_route_table(self.id)


RouteTable.delete = delete
main()
