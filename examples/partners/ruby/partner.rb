# A partner's backend: its keys, tokens for its user, calls of the instance's API, and the page with the frame.
require "base64"
require "cgi"
require "json"
require "jwt"
require "net/http"
require "openssl"
require "securerandom"
require "sinatra/base"

ISSUER = ENV.fetch("PARTNER_ISSUER", "https://partner.example")
INSTANCE_URL = ENV.fetch("INSTANCE_URL", "http://localhost:5678")
KEY_FILE = ENV.fetch("KEY_FILE", "partner-key.pem")
KEY_ID = ENV.fetch("KEY_ID", "partner-key-1")
PAGE_DIR = ENV.fetch("PAGE_DIR", File.join(__dir__, "..", "page"))
TOKEN_LIFETIME_SECONDS = Integer(ENV.fetch("TOKEN_LIFETIME_SECONDS", "600"))

LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout".freeze
GRANT_TYPE = "urn:ietf:params:oauth:grant-type:token-exchange".freeze
EMBED_LIFETIME_SECONDS = 60
LOGOUT_LIFETIME_SECONDS = 120
MARGIN_SECONDS = 10
MAX_TRIES = 3
LONGEST_WAIT_SECONDS = 30
TIMEOUT_SECONDS = 30

# A real product takes the user from its own session.
USER = {
  sub: "customer-1", email: "ada@partner.example", email_verified: true,
  given_name: "Ada", family_name: "Castell", role: "global:member",
  projects: ["castell:project:editor"]
}.freeze
SUPPORT = { sub: "support-1", email: "bob@partner.example", email_verified: true, given_name: "Bob" }.freeze

# No other account of this machine may read it, not even for a moment.
unless File.exist?(KEY_FILE)
  made = OpenSSL::PKey::EC.generate("prime256v1")
  File.open(KEY_FILE, File::WRONLY | File::CREAT | File::EXCL, 0o600) { |file| file.write(made.to_pem) }
end
PRIVATE_KEY = OpenSSL::PKey.read(File.read(KEY_FILE))

# The instance's refusal. It never contains the token that was sent.
class Refused < StandardError
  attr_reader :request_id

  def initialize(error, request_id)
    super(error)
    @request_id = request_id
  end
end

# A token for one use, with a new jti.
def sign(claims, lifetime_seconds, typ: "JWT")
  now = Time.now.to_i
  own = { iss: ISSUER, aud: INSTANCE_URL, iat: now, exp: now + lifetime_seconds, jti: SecureRandom.uuid }
  JWT.encode(claims.merge(own), PRIVATE_KEY, "ES256", { kid: KEY_ID, typ: typ })
end

# It follows no redirects, which would pass the tokens on.
def send_to_instance(request)
  uri = URI(INSTANCE_URL)
  options = { use_ssl: uri.scheme == "https", open_timeout: TIMEOUT_SECONDS, read_timeout: TIMEOUT_SECONDS }
  Net::HTTP.start(uri.hostname, uri.port, **options) { |http| http.request(request) }
end

def members_of(answer)
  JSON.parse(answer.body)
rescue JSON::ParserError
  {}
end

# Exchanges tokens, and keeps each access token until shortly before it expires.
class AccessTokens
  attr_reader :exchanges

  def initialize
    @exchanges = 0
    @kept = {}
    @lock = Mutex.new
  end

  # Returns a token other than the refused one: another caller may already have a new one.
  def get(subject, actor, refused: nil)
    name = [subject[:sub], actor && actor[:sub]]
    # One exchange at a time: callers that waited use its token.
    @lock.synchronize do
      token, until_time = @kept[name]
      token, = @kept[name] = exchange(subject, actor) if token.nil? || token == refused || now >= until_time
      token
    end
  end

  private

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def exchange(subject, actor)
    1.upto(MAX_TRIES) do |tries|
      sent = now
      answer = try_exchange(subject, actor)
      members = members_of(answer)
      if answer.code == "200"
        life = members.fetch("expires_in")
        return [members.fetch("access_token"), sent + life - [MARGIN_SECONDS, life / 5.0].min]
      end
      wait = seconds_to_wait(answer["Retry-After"])
      is_busy = %w[429 503].include?(answer.code)
      if !is_busy || tries == MAX_TRIES || wait > LONGEST_WAIT_SECONDS
        raise Refused.new(members.fetch("error", "status #{answer.code}"), answer["X-Request-Id"])
      end
      sleep(wait + rand)
    end
  end

  # A proxy may send a date instead of seconds, or nothing. The wait is then one second.
  def seconds_to_wait(retry_after)
    retry_after&.match?(/\A[0-9]{1,9}\z/) ? Integer(retry_after, 10) : 1
  end

  # Each try needs new tokens: the instance may have used up the earlier ones.
  def try_exchange(subject, actor)
    form = { grant_type: GRANT_TYPE, subject_token: sign(subject, TOKEN_LIFETIME_SECONDS) }
    form[:actor_token] = sign(actor, TOKEN_LIFETIME_SECONDS) if actor
    request = Net::HTTP::Post.new("/rest/auth/oauth/token")
    request.set_form_data(form)
    @exchanges += 1
    send_to_instance(request)
  end
end

TOKENS = AccessTokens.new

# A token can end early. The call is then repeated once with a new one.
def call_api(path, subject, actor, refused: nil)
  token = TOKENS.get(subject, actor, refused: refused)
  request = Net::HTTP::Get.new(path)
  request["Authorization"] = "Bearer #{token}"
  answer = send_to_instance(request)
  return call_api(path, subject, actor, refused: token) if answer.code == "401" && refused.nil?

  members_of(answer)
end

# Ends everything that the user has opened on the instance (OpenID Connect Back-Channel Logout 1.0).
def sign_user_out
  claims = { sub: USER[:sub], events: { LOGOUT_EVENT => {} } }
  request = Net::HTTP::Post.new("/rest/auth/backchannel-logout")
  request.set_form_data(logout_token: sign(claims, LOGOUT_LIFETIME_SECONDS, typ: "logout+jwt"))
  answer = send_to_instance(request)
  return if answer.code == "200"

  raise Refused.new(members_of(answer).fetch("error", "status #{answer.code}"), answer["X-Request-Id"])
end

def public_jwk
  # An uncompressed point: 4, x, y.
  point = PRIVATE_KEY.public_key.to_octet_string(:uncompressed)
  x, y = [point[1, 32], point[33, 32]].map { |part| Base64.urlsafe_encode64(part, padding: false) }
  { kty: "EC", crv: "P-256", x: x, y: y, kid: KEY_ID, alg: "ES256", use: "sig" }
end

class Partner < Sinatra::Base
  set :bind, "127.0.0.1"
  set :port, Integer(ENV.fetch("PORT", "8080"))
  set :server, :puma
  set :quiet, true
  set :show_exceptions, false
  set :raise_errors, false

  helpers do
    # The caller as the instance sees them, and their workflows.
    def overview(subject, actor = nil)
      content_type :json
      me = call_api("/rest/me", subject, actor)
      { me: me, workflows: call_api("/api/v1/workflows", subject, actor), exchanges: TOKENS.exchanges }.to_json
    end

    def page(name, token = "")
      cache_control :no_store
      values = { "{{INSTANCE_URL}}" => INSTANCE_URL, "{{TOKEN}}" => token }
      File.read(File.join(PAGE_DIR, name)).gsub(/\{\{\w+\}\}/) { |found| CGI.escapeHTML(values.fetch(found)) }
    end
  end

  get "/.well-known/jwks.json" do
    cache_control max_age: 300
    content_type :json
    { keys: [public_jwk] }.to_json
  end

  get "/partner.pem" do
    content_type "application/x-pem-file"
    PRIVATE_KEY.public_to_pem
  end

  post "/embed-token" do
    cache_control :no_store
    content_type :text
    sign(USER, EMBED_LIFETIME_SECONDS)
  end

  post "/sign-out" do
    sign_user_out
    status 204
  end

  get("/workflows") { overview(USER) }
  get("/support/workflows") { overview(USER, SUPPORT) }
  get("/") { page("index.html") }
  get("/plain") { page("plain.html", sign(USER, EMBED_LIFETIME_SECONDS)) }

  %w[page.js plain.js].each do |name|
    get("/#{name}") { send_file File.join(PAGE_DIR, name) }
  end

  error Refused do
    refused = env["sinatra.error"]
    content_type :json
    status 502
    { error: refused.message, requestId: refused.request_id }.to_json
  end
end

Partner.run! if $PROGRAM_NAME == __FILE__
