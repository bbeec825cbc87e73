"""Calls the API by the client that openapi-python-client has made of its description."""

import sys

from instance_api_client import AuthenticatedClient
from instance_api_client.api.credentials import credential_change, credential_create
from instance_api_client.api.users import user_list
from instance_api_client.models import (
    CredentialChangeBody,
    HttpBasicAuthData,
    NewHttpBasicAuthBody,
    NewHttpBasicAuthBodyType,
)

client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2])
assert len(user_list.sync(client=client, limit=1).data) == 1
made = credential_create.sync(
    client=client,
    body=NewHttpBasicAuthBody(
        name="made",
        type_=NewHttpBasicAuthBodyType.HTTPBASICAUTH,
        data=HttpBasicAuthData(user="a", password="b"),
    ),
)
changed = credential_change.sync(made.id, client=client, body=CredentialChangeBody(name="changed"))
assert (changed.id, changed.name) == (made.id, "changed"), changed
