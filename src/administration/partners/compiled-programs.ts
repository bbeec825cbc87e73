// The backend of a partner in Go, Java and C#.
import type { PartnerFacts } from './partner-facts.js';
import { double, GRANT_TYPE, tokenAddress } from './partner-facts.js';

export function goProgram(facts: PartnerFacts): string {
  return goHead(facts) + goSigning(facts) + goAnswers(facts);
}

function goHead(facts: PartnerFacts): string {
  return `// automation.go: go get github.com/golang-jwt/jwt/v5
package main

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

type User struct{ ID, Email string }

// A redirect would hand the token on.
var client = &http.Client{
	Timeout:       30 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func key() (any, error) {
	path := os.Getenv("PARTNER_KEY_FILE")
	if path == "" {
		path = ${double(facts.keyFile)}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s has no PEM", path)
	}
	return x509.ParsePKCS8PrivateKey(block.Bytes)
}

`;
}

function goSigning(facts: PartnerFacts): string {
  return `// sign signs a token for one use. The user comes from your own session, never from the request.
func sign(user User, lifetime time.Duration) (string, error) {
	private, err := key()
	if err != nil {
		return "", err
	}
	now := time.Now()
	token := jwt.NewWithClaims(jwt.GetSigningMethod(${double(facts.algorithm)}), jwt.MapClaims{
		"iss": ${double(facts.issuer)}, "aud": ${double(facts.audience)},
		"sub": user.ID, "email": user.Email,
		// true only because your product has verified the address.
		"email_verified": true,
		"iat":            now.Unix(), "exp": now.Add(lifetime).Unix(), "jti": randomID(),
	})
	token.Header["kid"] = ${double(facts.kid)}
	return token.SignedString(private)
}

func randomID() string {
	id := make([]byte, 16)
	_, _ = rand.Read(id)
	return fmt.Sprintf("%x", id)
}

`;
}

function goAnswers(facts: PartnerFacts): string {
  return `// SendFrameToken is for your route POST /automation-token, with the user of your session or nil.
func SendFrameToken(w http.ResponseWriter, user *User) {
	if user == nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	token, err := sign(*user, 60*time.Second)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Cache-Control", "no-store")
	fmt.Fprint(w, token)
}

// AccessToken exchanges a token for an access token to the API.
func AccessToken(user User) (string, error) {
	token, err := sign(user, 10*time.Minute)
	if err != nil {
		return "", err
	}
	answer, err := client.PostForm(${double(tokenAddress(facts))}, url.Values{
		"grant_type":    {"${GRANT_TYPE}"},
		"subject_token": {token},
	})
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	var members struct {
		AccessToken string \`json:"access_token"\`
		Error       string \`json:"error"\`
	}
	err = json.NewDecoder(answer.Body).Decode(&members)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s, request %s", members.Error, answer.Header.Get("X-Request-Id"))
	}
	return members.AccessToken, err
}
`;
}

export function java(facts: PartnerFacts): string {
  const [family, signer] = facts.algorithm.startsWith('ES')
    ? (['EC', 'new ECDSASigner((ECPrivateKey) KEY)'] as const)
    : (['RSA', 'new RSASSASigner(KEY)'] as const);
  return javaHead(facts, family) + javaSigning(facts, signer) + javaAnswers(facts);
}

function javaHead(facts: PartnerFacts, family: 'EC' | 'RSA'): string {
  const isEc = family === 'EC';
  return `// Automation.java: com.nimbusds:nimbus-jose-jwt
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.${isEc ? 'ECDSASigner' : 'RSASSASigner'};
import com.nimbusds.jose.util.JSONObjectUtils;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.PrivateKey;
${isEc ? 'import java.security.interfaces.ECPrivateKey;\n' : ''}import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.UUID;

public final class Automation {
  private static final PrivateKey KEY = readKey();
  // It follows no redirect, which would hand the token on.
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  private Automation() {}

  private static PrivateKey readKey() {
    try {
      String path = System.getenv().getOrDefault("PARTNER_KEY_FILE", ${double(facts.keyFile)});
      String pem = Files.readString(Path.of(path)).replaceAll("-----[A-Z ]+-----", "");
      var spec = new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(pem));
      return KeyFactory.getInstance("${family}").generatePrivate(spec);
    } catch (Exception error) {
      throw new IllegalStateException("the private key cannot be read", error);
    }
  }

`;
}

function javaSigning(facts: PartnerFacts, signer: string): string {
  return `  /** Signs a token for one use. The user comes from your own session, never from the request. */
  static String sign(String userId, String email, Duration lifetime) throws JOSEException {
    Instant now = Instant.now();
    var claims = new JWTClaimsSet.Builder()
        .issuer(${double(facts.issuer)}).audience(${double(facts.audience)})
        .subject(userId).claim("email", email)
        // true only because your product has verified the address.
        .claim("email_verified", true)
        .jwtID(UUID.randomUUID().toString())
        .issueTime(Date.from(now)).expirationTime(Date.from(now.plus(lifetime))).build();
    var header = new JWSHeader.Builder(JWSAlgorithm.parse(${double(facts.algorithm)}))
        .keyID(${double(facts.kid)}).type(JOSEObjectType.JWT).build();
    var token = new SignedJWT(header, claims);
    token.sign(${signer});
    return token.serialize();
  }

`;
}

function javaAnswers(facts: PartnerFacts): string {
  return `  /**
   * Answer it in your route POST /automation-token to the user of your session: as text/plain with
   * Cache-Control: no-store. Answer 401 without a session.
   */
  public static String frameToken(String userId, String email) throws JOSEException {
    return sign(userId, email, Duration.ofSeconds(60));
  }

  /** Exchanges a token for an access token to the API. */
  public static String accessToken(String userId, String email) throws Exception {
    String form = "grant_type=" + encoded("${GRANT_TYPE}")
        + "&subject_token=" + encoded(sign(userId, email, Duration.ofMinutes(10)));
    var request = HttpRequest.newBuilder(URI.create(${double(tokenAddress(facts))}))
        .timeout(Duration.ofSeconds(30)).header("Content-Type", "application/x-www-form-urlencoded")
        .POST(HttpRequest.BodyPublishers.ofString(form)).build();
    var answer = CLIENT.send(request, BodyHandlers.ofString());
    var members = JSONObjectUtils.parse(answer.body());
    if (answer.statusCode() != 200) {
      throw new IllegalStateException(members.get("error") + ", request "
          + answer.headers().firstValue("X-Request-Id").orElse("unknown"));
    }
    return (String) members.get("access_token");
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }
}
`;
}

export function csharp(facts: PartnerFacts): string {
  return csharpSigning(facts) + csharpAnswers(facts);
}

function csharpSigning(facts: PartnerFacts): string {
  const [kind, security] = facts.algorithm.startsWith('ES')
    ? ['ECDsa', 'ECDsaSecurityKey']
    : ['RSA', 'RsaSecurityKey'];
  return `// Automation.cs: dotnet add package Microsoft.IdentityModel.JsonWebTokens
using System.Security.Cryptography;
using System.Text.Json.Nodes;
using Microsoft.IdentityModel.JsonWebTokens;
using Microsoft.IdentityModel.Tokens;

public sealed record AutomationUser(string Id, string Email);

public static class Automation
{
    private static readonly ${kind} Key = ReadKey();
    // A redirect would hand the token on.
    private static readonly HttpClient Client = new(new HttpClientHandler { AllowAutoRedirect = false });

    private static ${kind} ReadKey()
    {
        var key = ${kind}.Create();
        key.ImportFromPem(File.ReadAllText(Environment.GetEnvironmentVariable("PARTNER_KEY_FILE") ?? ${double(facts.keyFile)}));
        return key;
    }

    /// <summary>Signs a token for one use. The user comes from your own session, never from the request.</summary>
    private static string Sign(AutomationUser user, TimeSpan lifetime)
    {
        var now = DateTime.UtcNow;
        return new JsonWebTokenHandler().CreateToken(new SecurityTokenDescriptor
        {
            Issuer = ${double(facts.issuer)}, Audience = ${double(facts.audience)},
            IssuedAt = now, NotBefore = now, Expires = now + lifetime,
            Claims = new Dictionary<string, object>
            {
                ["sub"] = user.Id, ["email"] = user.Email,
                // true only because your product has verified the address.
                ["email_verified"] = true,
                ["jti"] = Guid.NewGuid().ToString(),
            },
            SigningCredentials = new SigningCredentials(
                new ${security}(Key) { KeyId = ${double(facts.kid)} }, ${double(facts.algorithm)}),
        });
    }

`;
}

function csharpAnswers(facts: PartnerFacts): string {
  return `    /// <summary>For app.MapPost("/automation-token", …), with the user of your session or null.</summary>
    public static IResult FrameToken(HttpResponse response, AutomationUser? user)
    {
        response.Headers.CacheControl = "no-store";
        return user is null ? Results.Unauthorized() : Results.Text(Sign(user, TimeSpan.FromSeconds(60)));
    }

    /// <summary>Exchanges a token for an access token to the API.</summary>
    public static async Task<string> AccessToken(AutomationUser user)
    {
        var form = new FormUrlEncodedContent(new Dictionary<string, string>
        {
            ["grant_type"] = "${GRANT_TYPE}",
            ["subject_token"] = Sign(user, TimeSpan.FromMinutes(10)),
        });
        using var answer = await Client.PostAsync(${double(tokenAddress(facts))}, form);
        var members = JsonNode.Parse(await answer.Content.ReadAsStringAsync());
        return (string?)members?["access_token"] ?? throw new HttpRequestException((string?)members?["error"]);
    }
}
`;
}
