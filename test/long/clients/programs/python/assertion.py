"""Gets access tokens by the grant of RFC 7523, with Authlib and with requests-oauthlib, as a job that signs its JWTs itself."""

import os
import sys
import time
import uuid

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"  # the tests have no certificate
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"

import jwt
from authlib.integrations.requests_client import AssertionSession
from authlib.oauth2 import OAuth2Error as AuthlibError
from oauthlib.oauth2 import BackendApplicationClient, OAuth2Error, ServiceApplicationClient
from requests_oauthlib import OAuth2Session

GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"


def call(session, base):
    me = session.get(base + "/rest/me")
    assert me.status_code == 200 and me.json()["authentication"] == "access_token", me.text


def refused(kind, how):
    try:
        answer = how()
    except kind as error:
        assert error.error == "invalid_grant", error
        return
    raise AssertionError(answer)


def authlib(base, endpoint, issuer, kid, subject, key):
    def session(**more):
        header = {"alg": "RS256", "kid": kid}
        return AssertionSession(endpoint, issuer, subject, key=key, header=header, **more)

    plain = session()
    call(plain, base)
    plain.refresh_token()
    call(plain, base)
    print("ok: Authlib gets a token, and another")
    # Authlib writes its jti into the claims that it was given, and keeps it there.
    own = session(claims={"stage": "test"})
    own.refresh_token()
    refused(AuthlibError, own.refresh_token)
    own.claims = {"stage": "test"}
    own.refresh_token()
    print("ok: Authlib with claims of the job gets another token by new claims alone")


def oauthlib(base, endpoint, issuer, kid, subject, key):
    names = {"issuer": issuer, "subject": subject, "audience": endpoint}
    service = OAuth2Session(client=ServiceApplicationClient(None, key, **names))
    refused(OAuth2Error, lambda: service.fetch_token(endpoint, jwt_id=str(uuid.uuid4())))
    print("ok: oauthlib alone is refused")
    now = int(time.time())
    claims = {"iss": issuer, "sub": subject, "aud": endpoint, "iat": now, "exp": now + 300, "jti": str(uuid.uuid4())}
    client = BackendApplicationClient(None)
    client.grant_type = GRANT
    session = OAuth2Session(client=client)
    session.fetch_token(endpoint, assertion=jwt.encode(claims, key, "RS256", {"kid": kid}))
    call(session, base)
    print("ok: oauthlib sends a JWT of PyJWT")


authlib(*sys.argv[1:], os.environ["KEY"])
oauthlib(*sys.argv[1:], os.environ["KEY"])
