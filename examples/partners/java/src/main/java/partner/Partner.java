// A partner's backend: its keys, tokens for its user, calls of the instance's API, and the page with the frame.
package partner;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import io.javalin.Javalin;
import io.javalin.http.Context;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPairGenerator;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;

public final class Partner {
  private static final String ISSUER = setting("PARTNER_ISSUER", "https://partner.example");
  private static final String INSTANCE_URL = setting("INSTANCE_URL", "http://localhost:5678");
  private static final Path KEY_FILE = Path.of(setting("KEY_FILE", "partner-key.pem"));
  private static final String KEY_ID = setting("KEY_ID", "partner-key-1");
  private static final Path PAGE_DIR = Path.of(setting("PAGE_DIR", "../page"));
  private static final int PORT = Integer.parseInt(setting("PORT", "8080"));
  private static final int TOKEN_LIFETIME_SECONDS = Integer.parseInt(setting("TOKEN_LIFETIME_SECONDS", "600"));

  private static final String LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";
  private static final String GRANT_TYPE = "urn:ietf:params:oauth:grant-type:token-exchange";
  private static final int EMBED_LIFETIME_SECONDS = 60;
  private static final int LOGOUT_LIFETIME_SECONDS = 120;
  private static final long MARGIN_SECONDS = 10;
  private static final int MAX_TRIES = 3;
  private static final int LONGEST_WAIT_SECONDS = 30;
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  // A real product takes the user from its own session.
  private static final Map<String, Object> USER = Map.of(
      "sub", "customer-1", "email", "ada@partner.example", "email_verified", true,
      "given_name", "Ada", "family_name", "Castell", "role", "global:member",
      "projects", List.of("castell:project:editor"));
  private static final Map<String, Object> SUPPORT = Map.of(
      "sub", "support-1", "email", "bob@partner.example", "email_verified", true, "given_name", "Bob");

  private static final ObjectMapper JSON = new ObjectMapper();

  /** The instance's refusal. It never contains the token that was sent. */
  private static final class Refused extends Exception {
    final String requestId;

    Refused(String error, String requestId) {
      super(error);
      this.requestId = requestId;
    }
  }

  private record Kept(String token, long untilNanos) {}

  private final ECKey key;
  // It follows no redirects, which would pass the tokens on.
  private final HttpClient client = HttpClient.newBuilder().connectTimeout(TIMEOUT).build();
  private final Map<String, Kept> kept = new HashMap<>();
  private int exchanges;

  private Partner(ECKey key) {
    this.key = key;
  }

  public static void main(String[] args) throws Exception {
    if (!Files.exists(KEY_FILE)) makeKey();
    new Partner(readKey()).serve();
  }

  private static String setting(String name, String fallback) {
    String value = System.getenv(name);
    return value == null || value.isEmpty() ? fallback : value;
  }

  private static void makeKey() throws GeneralSecurityException, IOException {
    var generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(new ECGenParameterSpec("secp256r1"));
    var ownerOnly = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    var pair = generator.generateKeyPair();
    Files.createFile(KEY_FILE, ownerOnly);
    // Java cannot derive the public key from the private key, so the file has both.
    Files.writeString(KEY_FILE, pem("PRIVATE KEY", pair.getPrivate().getEncoded())
        + pem("PUBLIC KEY", pair.getPublic().getEncoded()));
  }

  private static String pem(String type, byte[] der) {
    String body = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
    return "-----BEGIN " + type + "-----\n" + body + "\n-----END " + type + "-----\n";
  }

  private static ECKey readKey() throws Exception {
    String text = Files.readString(KEY_FILE);
    var factory = KeyFactory.getInstance("EC");
    var secret = (ECPrivateKey) factory.generatePrivate(new PKCS8EncodedKeySpec(derOf(text, "PRIVATE KEY")));
    var open = (ECPublicKey) factory.generatePublic(new X509EncodedKeySpec(derOf(text, "PUBLIC KEY")));
    return new ECKey.Builder(Curve.P_256, open)
        .privateKey(secret).keyID(KEY_ID).algorithm(JWSAlgorithm.ES256).keyUse(KeyUse.SIGNATURE).build();
  }

  private static byte[] derOf(String text, String type) {
    String begin = "-----BEGIN " + type + "-----";
    int from = text.indexOf(begin);
    if (from < 0) {
      throw new IllegalStateException("the key file has no " + type
          + "; Java needs both halves in it: PKCS #8, then openssl pkey -in key.pem -pubout >> key.pem");
    }
    return Base64.getMimeDecoder().decode(
        text.substring(from + begin.length(), text.indexOf("-----END " + type)));
  }

  private void serve() {
    var app = Javalin.create(config -> config.showJavalinBanner = false);
    app.get("/.well-known/jwks.json", this::sendJwks);
    app.get("/partner.pem", context -> context.contentType("application/x-pem-file")
        .result(pem("PUBLIC KEY", key.toECPublicKey().getEncoded())));
    app.post("/embed-token", context -> context.contentType("text/plain").header("Cache-Control", "no-store")
        .result(sign(USER, EMBED_LIFETIME_SECONDS)));
    app.post("/sign-out", this::signOut);
    app.get("/workflows", context -> sendOverview(context, USER, null));
    app.get("/support/workflows", context -> sendOverview(context, USER, SUPPORT));
    app.get("/", context -> sendPage(context, "index.html", ""));
    app.get("/plain", context -> sendPage(context, "plain.html", sign(USER, EMBED_LIFETIME_SECONDS)));
    for (String name : List.of("page.js", "plain.js")) {
      app.get("/" + name, context -> context.contentType("text/javascript")
          .result(Files.readString(PAGE_DIR.resolve(name))));
    }
    app.exception(Refused.class, (refused, context) -> {
      var members = new HashMap<String, Object>();
      members.put("error", refused.getMessage());
      members.put("requestId", refused.requestId);
      context.status(502).json(members);
    });
    app.start("127.0.0.1", PORT);
    System.out.println("listening on http://localhost:" + PORT);
  }

  private void sendJwks(Context context) {
    JWK open = key.toPublicJWK();
    context.header("Cache-Control", "max-age=300").json(Map.of("keys", List.of(open.toJSONObject())));
  }

  /** Ends everything that the user has opened on the instance (OpenID Connect Back-Channel Logout 1.0). */
  private void signOut(Context context) throws Exception {
    var claims = Map.of("sub", USER.get("sub"), "events", Map.of(LOGOUT_EVENT, Map.of()));
    String token = sign(claims, LOGOUT_LIFETIME_SECONDS, new JOSEObjectType("logout+jwt"));
    var answer = client.send(
        post("/rest/auth/backchannel-logout", Map.of("logout_token", token)), BodyHandlers.ofString());
    if (answer.statusCode() != 200) throw refusalOf(answer, membersOf(answer.body()));
    context.status(204);
  }

  private static HttpRequest post(String path, Map<String, String> form) {
    return HttpRequest.newBuilder(URI.create(INSTANCE_URL + path)).timeout(TIMEOUT)
        .header("Content-Type", "application/x-www-form-urlencoded")
        .POST(HttpRequest.BodyPublishers.ofString(encoded(form))).build();
  }

  private static Refused refusalOf(HttpResponse<String> answer, JsonNode members) {
    String error = members.path("error").asText("status " + answer.statusCode());
    return new Refused(error, answer.headers().firstValue("X-Request-Id").orElse(null));
  }

  private static void sendPage(Context context, String name, String token) throws IOException {
    String text = Files.readString(PAGE_DIR.resolve(name))
        .replace("{{INSTANCE_URL}}", escaped(INSTANCE_URL)).replace("{{TOKEN}}", escaped(token));
    context.header("Cache-Control", "no-store").html(text);
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        .replace("\"", "&quot;").replace("'", "&#39;");
  }

  /** The caller as the instance sees them, and their workflows. */
  private void sendOverview(Context context, Map<String, Object> subject, Map<String, Object> actor)
      throws Exception {
    var members = new LinkedHashMap<String, Object>();
    members.put("me", call("/rest/me", subject, actor, null));
    members.put("workflows", call("/api/v1/workflows", subject, actor, null));
    synchronized (this) {
      members.put("exchanges", exchanges);
    }
    context.json(members);
  }

  /** A token can end early. The call is then repeated once with a new one. */
  private JsonNode call(String path, Map<String, Object> subject, Map<String, Object> actor, String refused)
      throws Exception {
    String token = accessToken(subject, actor, refused);
    var request = HttpRequest.newBuilder(URI.create(INSTANCE_URL + path)).timeout(TIMEOUT)
        .header("Authorization", "Bearer " + token).build();
    HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
    if (answer.statusCode() == 401 && refused == null) return call(path, subject, actor, token);
    return membersOf(answer.body());
  }

  /** One exchange at a time: callers that waited use its token, even if theirs was refused. */
  private synchronized String accessToken(
      Map<String, Object> subject, Map<String, Object> actor, String refused) throws Exception {
    String name = subject.get("sub") + "\0" + (actor == null ? "" : actor.get("sub"));
    Kept found = kept.get(name);
    if (found == null || found.token().equals(refused) || System.nanoTime() - found.untilNanos() >= 0) {
      found = exchange(subject, actor);
      kept.put(name, found);
    }
    return found.token();
  }

  private Kept exchange(Map<String, Object> subject, Map<String, Object> actor) throws Exception {
    for (int tries = 1; ; tries++) {
      // Each try needs new tokens: the instance may have used up the earlier ones.
      var form = new LinkedHashMap<String, String>();
      form.put("grant_type", GRANT_TYPE);
      form.put("subject_token", sign(subject, TOKEN_LIFETIME_SECONDS));
      if (actor != null) form.put("actor_token", sign(actor, TOKEN_LIFETIME_SECONDS));
      exchanges++;
      long sent = System.nanoTime();
      HttpResponse<String> answer = client.send(post("/rest/auth/oauth/token", form), BodyHandlers.ofString());
      JsonNode members = membersOf(answer.body());
      if (answer.statusCode() == 200) {
        long life = members.get("expires_in").asLong();
        long usable = Duration.ofSeconds(life).toMillis() - Math.min(MARGIN_SECONDS * 1000, life * 200);
        return new Kept(members.get("access_token").asText(), sent + Duration.ofMillis(usable).toNanos());
      }
      // A proxy may send a date instead of seconds, or nothing. The wait is then one second.
      int wait = answer.headers().firstValue("Retry-After")
          .filter(value -> value.matches("[0-9]{1,9}")).map(Integer::valueOf).orElse(1);
      boolean isBusy = answer.statusCode() == 429 || answer.statusCode() == 503;
      if (!isBusy || tries == MAX_TRIES || wait > LONGEST_WAIT_SECONDS) {
        throw refusalOf(answer, members);
      }
      Thread.sleep(wait * 1000L + ThreadLocalRandom.current().nextInt(1000));
    }
  }

  private static JsonNode membersOf(String body) {
    try {
      return JSON.readTree(body);
    } catch (IOException error) {
      return JSON.createObjectNode();
    }
  }

  private static String encoded(Map<String, String> form) {
    return form.entrySet().stream()
        .map(field -> field.getKey() + "=" + URLEncoder.encode(field.getValue(), StandardCharsets.UTF_8))
        .collect(Collectors.joining("&"));
  }

  /** A token for one use, with a new jti. */
  private String sign(Map<String, Object> claims, int lifetimeSeconds) throws JOSEException {
    return sign(claims, lifetimeSeconds, JOSEObjectType.JWT);
  }

  private String sign(Map<String, Object> claims, int lifetimeSeconds, JOSEObjectType type) throws JOSEException {
    Instant now = Instant.now();
    var all = new JWTClaimsSet.Builder().issuer(ISSUER).audience(INSTANCE_URL)
        .jwtID(UUID.randomUUID().toString())
        .issueTime(Date.from(now)).expirationTime(Date.from(now.plusSeconds(lifetimeSeconds)));
    claims.forEach(all::claim);
    var header = new JWSHeader.Builder(JWSAlgorithm.ES256).keyID(KEY_ID).type(type).build();
    var token = new SignedJWT(header, all.build());
    token.sign(new ECDSASigner(key));
    return token.serialize();
  }
}
