"""Finds the token endpoint by discovery, exchanges and verifies, with Authlib and PyJWT."""

import os
import sys

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"  # the tests have no certificate

import jwt
import requests
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata, get_well_known_url

GRANT = "urn:ietf:params:oauth:grant-type:token-exchange"
JWT = "urn:ietf:params:oauth:token-type:jwt"


def discover(base):
    return AuthorizationServerMetadata(requests.get(get_well_known_url(base, external=True)).json())


def exchange(base, metadata, token, **how):
    session = OAuth2Session("a-client", **how)
    answer = session.fetch_token(
        metadata["token_endpoint"], grant_type=GRANT, subject_token=token, subject_token_type=JWT
    )
    assert answer["token_type"] == "Bearer", answer
    me = session.get(base + "/rest/me")
    assert me.status_code == 200 and me.json()["authentication"] == "access_token", me.text
    return answer["access_token"]


def main(base, *tokens):
    metadata = discover(base)
    access_token = exchange(base, metadata, tokens[0], token_endpoint_auth_method="none")
    print("ok: Authlib exchanges without authentication")
    exchange(base, metadata, tokens[1], client_secret="a secret")
    print("ok: Authlib exchanges with a secret")
    key = jwt.PyJWKClient(metadata["jwks_uri"]).get_signing_key_from_jwt(access_token)
    claims = jwt.decode(access_token, key, audience=base, issuer=metadata["issuer"])
    assert claims["client_id"] == "https://partner.example", claims
    print("ok: PyJWT verifies")


main(*sys.argv[1:])
