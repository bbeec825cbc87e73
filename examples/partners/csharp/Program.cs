// A partner's backend: its keys, tokens for its user, calls of the instance's API, and the page with the frame.
using System.Net;
using System.Net.Http.Headers;
using System.Security.Cryptography;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Nodes;
using Microsoft.IdentityModel.JsonWebTokens;
using Microsoft.IdentityModel.Tokens;

// A real product takes the user from its own session.
var user = new Dictionary<string, object>
{
    ["sub"] = "customer-1", ["email"] = "ada@partner.example", ["email_verified"] = true,
    ["given_name"] = "Ada", ["family_name"] = "Castell", ["role"] = "global:member",
    ["projects"] = new[] { "castell:project:editor" },
};
var support = new Dictionary<string, object>
{
    ["sub"] = "support-1", ["email"] = "bob@partner.example", ["email_verified"] = true, ["given_name"] = "Bob",
};

var settings = Settings.FromEnvironment();
using var key = KeyFile.ReadOrMake(settings.KeyFile);
var signer = new Signer(key, settings);
var partner = new Instance(signer, settings);

var builder = WebApplication.CreateBuilder();
builder.WebHost.UseUrls($"http://127.0.0.1:{settings.Port}");
var app = builder.Build();

app.MapGet("/.well-known/jwks.json", (HttpResponse response) =>
{
    response.Headers.CacheControl = "max-age=300";
    return Results.Json(new { keys = new[] { signer.PublicJwk() } });
});
app.MapGet("/partner.pem", () => Results.Text(key.ExportSubjectPublicKeyInfoPem(), "application/x-pem-file"));
app.MapPost("/embed-token", (HttpResponse response) =>
{
    response.Headers.CacheControl = "no-store";
    return Results.Text(signer.Sign(user, Signer.EmbedLifetimeSeconds));
});
app.MapPost("/sign-out", () => Answered(async () =>
{
    await partner.SignOut((string)user["sub"]);
    return Results.NoContent();
}));
app.MapGet("/workflows", () => Overview(null));
app.MapGet("/support/workflows", () => Overview(support));
app.MapGet("/", (HttpResponse response) => Page(response, "index.html", ""));
app.MapGet("/plain", (HttpResponse response) =>
    Page(response, "plain.html", signer.Sign(user, Signer.EmbedLifetimeSeconds)));
foreach (var name in new[] { "page.js", "plain.js" })
    app.MapGet($"/{name}", () => Results.File(Path.GetFullPath(Path.Combine(settings.PageDir, name)), "text/javascript"));
app.Run();

// The caller as the instance sees them, and their workflows.
Task<IResult> Overview(Dictionary<string, object>? actor) => Answered(async () =>
{
    var me = await partner.Call("/rest/me", user, actor);
    var workflows = await partner.Call("/api/v1/workflows", user, actor);
    return Results.Json(new { me, workflows, exchanges = partner.Exchanges });
});

async Task<IResult> Answered(Func<Task<IResult>> work)
{
    try
    {
        return await work();
    }
    catch (Refused refused)
    {
        return Results.Json(new { error = refused.Message, requestId = refused.RequestId }, statusCode: 502);
    }
}

IResult Page(HttpResponse response, string name, string token)
{
    response.Headers.CacheControl = "no-store";
    var text = File.ReadAllText(Path.Combine(settings.PageDir, name))
        .Replace("{{INSTANCE_URL}}", HtmlEncoder.Default.Encode(settings.InstanceUrl))
        .Replace("{{TOKEN}}", HtmlEncoder.Default.Encode(token));
    return Results.Text(text, "text/html; charset=utf-8");
}

internal sealed record Settings(
    string Issuer, string InstanceUrl, string KeyFile, string KeyId, string PageDir, int Port, int TokenLifetimeSeconds)
{
    public static Settings FromEnvironment() => new(
        Get("PARTNER_ISSUER", "https://partner.example"),
        Get("INSTANCE_URL", "http://localhost:5678"),
        Get("KEY_FILE", "partner-key.pem"),
        Get("KEY_ID", "partner-key-1"),
        Get("PAGE_DIR", "../page"),
        int.Parse(Get("PORT", "8080")),
        int.Parse(Get("TOKEN_LIFETIME_SECONDS", "600")));

    private static string Get(string name, string fallback) =>
        Environment.GetEnvironmentVariable(name) is { Length: > 0 } value ? value : fallback;
}

internal static class KeyFile
{
    public static ECDsa ReadOrMake(string path)
    {
        var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        if (File.Exists(path))
        {
            key.ImportFromPem(File.ReadAllText(path));
            return key;
        }
        var options = new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write };
        // No other account of this machine may read it, not even for a moment.
        if (!OperatingSystem.IsWindows()) options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        using var writer = new StreamWriter(path, options);
        writer.WriteLine(key.ExportPkcs8PrivateKeyPem());
        return key;
    }
}

internal sealed class Signer(ECDsa key, Settings settings)
{
    public const int EmbedLifetimeSeconds = 60;
    public const int LogoutLifetimeSeconds = 120;
    private readonly JsonWebTokenHandler handler = new() { SetDefaultTimesOnTokenCreation = false };

    /// <summary>A token for one use, with a new jti.</summary>
    public string Sign(Dictionary<string, object> claims, int lifetimeSeconds, string type = "JWT")
    {
        var now = DateTime.UtcNow;
        var own = new Dictionary<string, object>(claims) { ["jti"] = Guid.NewGuid().ToString() };
        return handler.CreateToken(new SecurityTokenDescriptor
        {
            Issuer = settings.Issuer,
            Audience = settings.InstanceUrl,
            IssuedAt = now,
            Expires = now.AddSeconds(lifetimeSeconds),
            Claims = own,
            TokenType = type,
            SigningCredentials = new SigningCredentials(
                new ECDsaSecurityKey(key) { KeyId = settings.KeyId }, SecurityAlgorithms.EcdsaSha256),
        });
    }

    public object PublicJwk()
    {
        var point = key.ExportParameters(false).Q;
        return new
        {
            kty = "EC", crv = "P-256", x = Base64UrlEncoder.Encode(point.X!), y = Base64UrlEncoder.Encode(point.Y!),
            kid = settings.KeyId, alg = "ES256", use = "sig",
        };
    }
}

/// <summary>The instance's refusal. It never contains the token that was sent.</summary>
internal sealed class Refused(string error, string? requestId) : Exception(error)
{
    public string? RequestId { get; } = requestId;
}

/// <summary>Exchanges tokens, and keeps each access token until shortly before it expires.</summary>
internal sealed class Instance(Signer signer, Settings settings)
{
    private const string LogoutEvent = "http://schemas.openid.net/event/backchannel-logout";
    private const string GrantType = "urn:ietf:params:oauth:grant-type:token-exchange";
    private const double MarginSeconds = 10;
    private const int MostTries = 3;
    private const int LongestWaitSeconds = 30;

    // A redirect would pass the tokens on.
    private readonly HttpClient client = new(new SocketsHttpHandler { AllowAutoRedirect = false })
    {
        BaseAddress = new Uri(settings.InstanceUrl), Timeout = TimeSpan.FromSeconds(30),
    };
    private readonly SemaphoreSlim turn = new(1, 1);
    private readonly Dictionary<string, (string Token, long UntilMs)> kept = new();

    public int Exchanges { get; private set; }

    /// <summary>A token can end early. The call is then repeated once with a new one.</summary>
    public async Task<JsonNode?> Call(
        string path, Dictionary<string, object> subject, Dictionary<string, object>? actor, string? refused = null)
    {
        var token = await AccessToken(subject, actor, refused);
        using var request = new HttpRequestMessage(HttpMethod.Get, path);
        request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", token);
        using var answer = await client.SendAsync(request);
        if (answer.StatusCode == HttpStatusCode.Unauthorized && refused is null)
            return await Call(path, subject, actor, token);
        return MembersOf(await answer.Content.ReadAsStringAsync());
    }

    /// <summary>Ends everything that the user has opened on the instance (OpenID Connect Back-Channel Logout 1.0).</summary>
    public async Task SignOut(string subject)
    {
        var claims = new Dictionary<string, object>
        {
            ["sub"] = subject,
            ["events"] = new Dictionary<string, object> { [LogoutEvent] = new Dictionary<string, object>() },
        };
        var form = new Dictionary<string, string>
        {
            ["logout_token"] = signer.Sign(claims, Signer.LogoutLifetimeSeconds, "logout+jwt"),
        };
        using var answer = await client.PostAsync("/rest/auth/backchannel-logout", new FormUrlEncodedContent(form));
        if (answer.StatusCode != HttpStatusCode.OK)
            throw RefusalOf(answer, MembersOf(await answer.Content.ReadAsStringAsync()));
    }

    private static Refused RefusalOf(HttpResponseMessage answer, JsonObject members)
    {
        var error = members["error"]?.GetValue<string>() ?? $"status {(int)answer.StatusCode}";
        return new Refused(error, answer.Headers.TryGetValues("X-Request-Id", out var ids) ? ids.First() : null);
    }

    /// <summary>Returns a token other than the refused one: another caller may already have a new one.</summary>
    private async Task<string> AccessToken(
        Dictionary<string, object> subject, Dictionary<string, object>? actor, string? refused)
    {
        var name = $"{subject["sub"]}\0{actor?["sub"]}";
        // One exchange at a time: callers that waited use its token.
        await turn.WaitAsync();
        try
        {
            if (kept.TryGetValue(name, out var found) && found.Token != refused
                && Environment.TickCount64 < found.UntilMs)
                return found.Token;
            var made = await Exchange(subject, actor);
            kept[name] = made;
            return made.Token;
        }
        finally
        {
            turn.Release();
        }
    }

    private async Task<(string Token, long UntilMs)> Exchange(
        Dictionary<string, object> subject, Dictionary<string, object>? actor)
    {
        for (var tries = 1; ; tries++)
        {
            // Each try needs new tokens: the instance may have used up the earlier ones.
            var form = new Dictionary<string, string>
            {
                ["grant_type"] = GrantType, ["subject_token"] = signer.Sign(subject, settings.TokenLifetimeSeconds),
            };
            if (actor is not null) form["actor_token"] = signer.Sign(actor, settings.TokenLifetimeSeconds);
            Exchanges++;
            var sentMs = Environment.TickCount64;
            using var answer = await client.PostAsync("/rest/auth/oauth/token", new FormUrlEncodedContent(form));
            var members = MembersOf(await answer.Content.ReadAsStringAsync());
            if (answer.StatusCode == HttpStatusCode.OK)
            {
                var life = members["expires_in"]!.GetValue<double>();
                var usableMs = (long)((life - Math.Min(MarginSeconds, life / 5)) * 1000);
                return (members["access_token"]!.GetValue<string>(), sentMs + usableMs);
            }
            var wait = answer.Headers.RetryAfter?.Delta ?? TimeSpan.FromSeconds(1);
            var isBusy = answer.StatusCode is HttpStatusCode.TooManyRequests or HttpStatusCode.ServiceUnavailable;
            if (!isBusy || tries == MostTries || wait.TotalSeconds > LongestWaitSeconds)
                throw RefusalOf(answer, members);
            await Task.Delay(wait + TimeSpan.FromMilliseconds(Random.Shared.Next(1000)));
        }
    }

    private static JsonObject MembersOf(string body)
    {
        try
        {
            return JsonNode.Parse(body) as JsonObject ?? [];
        }
        catch (JsonException)
        {
            return [];
        }
    }
}
