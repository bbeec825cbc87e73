// Gets access tokens by the grant of RFC 7523, with Spring Security, as a job that signs its JWTs itself.
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.oauth2.client.JwtBearerOAuth2AuthorizedClientProvider;
import org.springframework.security.oauth2.client.OAuth2AuthorizationContext;
import org.springframework.security.oauth2.client.registration.ClientRegistration;
import org.springframework.security.oauth2.core.AuthorizationGrantType;
import org.springframework.security.oauth2.core.ClientAuthenticationMethod;
import org.springframework.security.oauth2.jose.jws.SignatureAlgorithm;
import org.springframework.security.oauth2.jwt.JwsHeader;
import org.springframework.security.oauth2.jwt.JwtClaimsSet;
import org.springframework.security.oauth2.jwt.JwtEncoderParameters;
import org.springframework.security.oauth2.jwt.NimbusJwtEncoder;

public class Assertion {
    public static void main(String[] arguments) throws Exception {
        String base = arguments[0], endpoint = arguments[1], issuer = arguments[2], subject = arguments[4];
        JWK key = JWK.parse(System.getenv("KEY_AS_JWK"));
        NimbusJwtEncoder encoder = new NimbusJwtEncoder(new ImmutableJWKSet<>(new JWKSet(key)));
        ClientRegistration registration = ClientRegistration.withRegistrationId("instance")
                .authorizationGrantType(AuthorizationGrantType.JWT_BEARER)
                // Otherwise it authenticates by a secret, which is empty.
                .clientAuthenticationMethod(ClientAuthenticationMethod.NONE)
                .clientId("a-client").tokenUri(endpoint).scope("workflow:read").build();
        JwtBearerOAuth2AuthorizedClientProvider provider = new JwtBearerOAuth2AuthorizedClientProvider();
        provider.setJwtAssertionResolver((context) -> encoder.encode(JwtEncoderParameters.from(
                JwsHeader.with(SignatureAlgorithm.RS256).build(),
                JwtClaimsSet.builder().issuer(issuer).subject(subject).audience(List.of(endpoint))
                        .issuedAt(Instant.now()).expiresAt(Instant.now().plusSeconds(300))
                        .id(UUID.randomUUID().toString()).build())));
        for (String which : List.of("a token", "another")) {
            var token = provider.authorize(OAuth2AuthorizationContext.withClientRegistration(registration)
                            .principal(new UsernamePasswordAuthenticationToken("job", null)).build())
                    .getAccessToken();
            HttpRequest request = HttpRequest.newBuilder(URI.create(base + "/rest/me"))
                    .header("Authorization", "Bearer " + token.getTokenValue()).build();
            HttpResponse<String> answer =
                    HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() != 200) throw new IllegalStateException(answer.body());
            System.out.println("ok: Spring Security gets " + which);
        }
    }
}
