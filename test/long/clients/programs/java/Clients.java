// Finds the token endpoint by discovery, exchanges and verifies, with Nimbus' OAuth SDK and Spring Security.
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import com.nimbusds.oauth2.sdk.AccessTokenResponse;
import com.nimbusds.oauth2.sdk.TokenErrorResponse;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.TokenResponse;
import com.nimbusds.oauth2.sdk.as.AuthorizationServerMetadata;
import com.nimbusds.oauth2.sdk.dpop.DPoPProofFactory;
import com.nimbusds.oauth2.sdk.dpop.DefaultDPoPProofFactory;
import com.nimbusds.oauth2.sdk.http.HTTPRequest;
import com.nimbusds.oauth2.sdk.http.HTTPResponse;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.id.Issuer;
import com.nimbusds.oauth2.sdk.token.BearerAccessToken;
import com.nimbusds.oauth2.sdk.token.DPoPAccessToken;
import com.nimbusds.oauth2.sdk.token.TokenTypeURI;
import com.nimbusds.oauth2.sdk.token.TypelessAccessToken;
import com.nimbusds.oauth2.sdk.tokenexchange.TokenExchangeGrant;
import com.nimbusds.openid.connect.sdk.Nonce;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Set;
import org.springframework.security.oauth2.jwt.JwtValidators;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;

public class Clients {
    public static void main(String[] arguments) throws Exception {
        String base = arguments[0];
        AuthorizationServerMetadata server = AuthorizationServerMetadata.resolve(new Issuer(base));
        say("Nimbus discovers by RFC 8414");
        OIDCProviderMetadata provider = OIDCProviderMetadata.resolve(new Issuer(base));
        say("Nimbus discovers by OpenID Connect");

        String token = exchange(server.getTokenEndpointURI(), arguments[1]);
        say("Nimbus exchanges");
        call(base, token);
        say("the API takes the token");

        DefaultJWTProcessor<SecurityContext> processor = new DefaultJWTProcessor<>();
        processor.setJWSTypeVerifier(new DefaultJOSEObjectTypeVerifier<>(new JOSEObjectType("at+jwt")));
        processor.setJWSKeySelector(new JWSVerificationKeySelector<>(
                JWSAlgorithm.ES256, JWKSourceBuilder.create(provider.getJWKSetURI().toURL()).build()));
        processor.setJWTClaimsSetVerifier(new DefaultJWTClaimsVerifier<>(
                base, new JWTClaimsSet.Builder().issuer(base).build(), Set.of("sub", "exp", "client_id")));
        processor.process(token, null);
        say("Nimbus verifies");

        NimbusJwtDecoder decoder = NimbusJwtDecoder.withIssuerLocation(base).validateType(false).build();
        decoder.setJwtValidator(JwtValidators.createAtJwtValidator()
                .issuer(base).audience(base).clientId(arguments[3]).build());
        decoder.decode(token);
        say("Spring Security verifies");

        ECKey key = new ECKeyGenerator(Curve.P_256).generate();
        DPoPProofFactory proofs = new DefaultDPoPProofFactory(key, JWSAlgorithm.ES256);
        HTTPResponse asked = prove(server.getTokenEndpointURI(), arguments[2], proofs, null);
        TokenErrorResponse refusal = TokenErrorResponse.parse(asked);
        if (!"use_dpop_nonce".equals(refusal.getErrorObject().getCode()))
            throw new IllegalStateException(asked.getBody());
        Nonce nonce = asked.getDPoPNonce();
        HTTPResponse answer = prove(server.getTokenEndpointURI(), arguments[2], proofs, nonce);
        DPoPAccessToken bound =
                AccessTokenResponse.parse(answer).getTokens().getDPoPAccessToken();
        say("Nimbus exchanges with a DPoP proof, and a nonce");
        URI me = URI.create(base + "/rest/me");
        HTTPRequest call = new HTTPRequest(HTTPRequest.Method.GET, me);
        call.setAuthorization(bound.toAuthorizationHeader());
        call.setDPoP(proofs.createDPoPJWT("GET", me, bound, nonce));
        call.send().ensureStatusCode(200);
        say("the API takes the bound token with a proof");
    }

    private static HTTPResponse prove(URI endpoint, String subjectToken, DPoPProofFactory proofs, Nonce nonce)
            throws Exception {
        TokenExchangeGrant grant =
                new TokenExchangeGrant(new TypelessAccessToken(subjectToken), TokenTypeURI.JWT);
        HTTPRequest request = new TokenRequest.Builder(endpoint, new ClientID("a-client"), grant)
                .build().toHTTPRequest();
        request.setDPoP(nonce == null
                ? proofs.createDPoPJWT("POST", endpoint)
                : proofs.createDPoPJWT("POST", endpoint, nonce));
        return request.send();
    }

    private static String exchange(URI endpoint, String subjectToken) throws Exception {
        TokenExchangeGrant grant =
                new TokenExchangeGrant(new TypelessAccessToken(subjectToken), TokenTypeURI.JWT);
        TokenRequest request =
                new TokenRequest.Builder(endpoint, new ClientID("a-client"), grant).build();
        TokenResponse answer = TokenResponse.parse(request.toHTTPRequest().send());
        if (!answer.indicatesSuccess()) throw new IllegalStateException(answer.toErrorResponse().toJSONObject().toString());
        BearerAccessToken token = answer.toSuccessResponse().getTokens().getBearerAccessToken();
        return token.getValue();
    }

    private static void call(String base, String token) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(base + "/rest/me"))
                .header("Authorization", "Bearer " + token).build();
        HttpResponse<String> answer =
                HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() != 200) throw new IllegalStateException(answer.body());
    }

    private static void say(String what) {
        System.out.println("ok: " + what);
    }
}
