// A partner's backend: its keys, tokens for its user, calls of the instance's API, and the page with the frame.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"html"
	"io"
	"log"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	logoutEvent   = "http://schemas.openid.net/event/backchannel-logout"
	grantType     = "urn:ietf:params:oauth:grant-type:token-exchange"
	embedLifetime = 60 * time.Second
	logoutLife    = 120 * time.Second
	margin        = 10 * time.Second
	mostTries     = 3
	longestWait   = 30 * time.Second
	longestAnswer = 8 << 20
)

var (
	issuer        = setting("PARTNER_ISSUER", "https://partner.example")
	instanceURL   = setting("INSTANCE_URL", "http://localhost:5678")
	keyFile       = setting("KEY_FILE", "partner-key.pem")
	keyID         = setting("KEY_ID", "partner-key-1")
	pageDir       = setting("PAGE_DIR", "../page")
	port          = setting("PORT", "8080")
	tokenLifetime = seconds(setting("TOKEN_LIFETIME_SECONDS", "600"))

	// A real product takes the user from its own session.
	user = jwt.MapClaims{
		"sub": "customer-1", "email": "ada@partner.example", "email_verified": true,
		"given_name": "Ada", "family_name": "Castell", "role": "global:member",
		"projects": []string{"castell:project:editor"},
	}
	support = jwt.MapClaims{
		"sub": "support-1", "email": "bob@partner.example", "email_verified": true, "given_name": "Bob",
	}

	client = &http.Client{
		Timeout: 30 * time.Second,
		// A redirect would pass the tokens on.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
)

func setting(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}

func seconds(text string) time.Duration {
	number, err := strconv.Atoi(text)
	if err != nil {
		log.Fatal("TOKEN_LIFETIME_SECONDS must be a whole number")
	}
	return time.Duration(number) * time.Second
}

// refusal is the instance's refusal. It never contains the token that was sent.
type refusal struct {
	Code      string `json:"error"`
	RequestID string `json:"requestId"`
}

func (r *refusal) Error() string { return r.Code }

type keptToken struct {
	token string
	until time.Time
}

// partner exchanges tokens, and keeps each access token until shortly before it expires.
type partner struct {
	key       *ecdsa.PrivateKey
	mutex     sync.Mutex
	kept      map[string]keptToken
	exchanges int
}

func loadKey() (*ecdsa.PrivateKey, error) {
	text, err := os.ReadFile(keyFile)
	if errors.Is(err, os.ErrNotExist) {
		return makeKey()
	}
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("the key file has no PEM")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("the key file has no PKCS #8 key")
	}
	ec, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("the key is not of an elliptic curve")
	}
	return ec, nil
}

func makeKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return key, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
}

// sign makes a token for one use, with a new jti.
func (p *partner) sign(claims jwt.MapClaims, lifetime time.Duration) (string, error) {
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		return "", err
	}
	now := time.Now()
	all := jwt.MapClaims{
		"iss": issuer, "aud": instanceURL, "jti": hex.EncodeToString(id),
		"iat": now.Unix(), "exp": now.Add(lifetime).Unix(),
	}
	for name, value := range claims {
		all[name] = value
	}
	token := jwt.NewWithClaims(jwt.SigningMethodES256, all)
	token.Header["kid"] = keyID
	if claims["events"] != nil {
		token.Header["typ"] = "logout+jwt"
	}
	return token.SignedString(p.key)
}

// accessToken returns a token other than the refused one: another caller may already have a new one.
func (p *partner) accessToken(subject, actor jwt.MapClaims, refused string) (string, error) {
	name := fmt.Sprint(subject["sub"], "\x00", actor["sub"])
	// One exchange at a time: callers that waited use its token.
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if found := p.kept[name]; found.token != refused && time.Now().Before(found.until) {
		return found.token, nil
	}
	found, err := p.exchange(subject, actor)
	if err == nil {
		p.kept[name] = found
	}
	return found.token, err
}

func (p *partner) exchange(subject, actor jwt.MapClaims) (keptToken, error) {
	for tries := 1; ; tries++ {
		found, wait, err := p.tryExchange(subject, actor)
		if err == nil || wait == 0 || wait > longestWait || tries == mostTries {
			return found, err
		}
		time.Sleep(wait + time.Duration(mathrand.IntN(1000))*time.Millisecond)
	}
}

// tryExchange signs new tokens, because the earlier ones may be used up. It also returns the wait before the next try, 0 for none.
func (p *partner) tryExchange(subject, actor jwt.MapClaims) (keptToken, time.Duration, error) {
	form := url.Values{"grant_type": {grantType}}
	for field, claims := range map[string]jwt.MapClaims{"subject_token": subject, "actor_token": actor} {
		if claims == nil {
			continue
		}
		token, err := p.sign(claims, tokenLifetime)
		if err != nil {
			return keptToken{}, 0, err
		}
		form.Set(field, token)
	}
	p.exchanges++
	sent := time.Now()
	answer, err := client.PostForm(instanceURL+"/rest/auth/oauth/token", form)
	if err != nil {
		return keptToken{}, 0, err
	}
	defer answer.Body.Close()
	var members struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int    `json:"expires_in"`
		Error       string `json:"error"`
	}
	// An answer that is not JSON has no token and is refused below.
	_ = json.NewDecoder(io.LimitReader(answer.Body, longestAnswer)).Decode(&members)
	if answer.StatusCode == http.StatusOK && members.AccessToken != "" {
		life := time.Duration(members.ExpiresIn) * time.Second
		return keptToken{members.AccessToken, sent.Add(life - min(margin, life/5))}, 0, nil
	}
	refused := &refusal{Code: members.Error, RequestID: answer.Header.Get("X-Request-Id")}
	if answer.StatusCode != http.StatusTooManyRequests && answer.StatusCode != http.StatusServiceUnavailable {
		return keptToken{}, 0, refused
	}
	wait, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	if err != nil || wait < 1 {
		wait = 1
	}
	return keptToken{}, time.Duration(wait) * time.Second, refused
}

// call repeats a refused call once with a new token, because a token can end early.
func (p *partner) call(path string, subject, actor jwt.MapClaims, refused string) (json.RawMessage, error) {
	token, err := p.accessToken(subject, actor, refused)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(http.MethodGet, instanceURL+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusUnauthorized && refused == "" {
		return p.call(path, subject, actor, token)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, longestAnswer))
	if err == nil && !json.Valid(body) {
		// An answer that is not JSON is not from the instance.
		body = []byte("{}")
	}
	return body, err
}

// overview returns the caller as the instance sees them, and their workflows.
func (p *partner) overview(subject, actor jwt.MapClaims) http.HandlerFunc {
	return func(response http.ResponseWriter, _ *http.Request) {
		me, err := p.call("/rest/me", subject, actor, "")
		var workflows json.RawMessage
		if err == nil {
			workflows, err = p.call("/api/v1/workflows", subject, actor, "")
		}
		if err != nil {
			fail(response, err)
			return
		}
		p.mutex.Lock()
		exchanges := p.exchanges
		p.mutex.Unlock()
		sendJSON(response, http.StatusOK, map[string]any{"me": me, "workflows": workflows, "exchanges": exchanges})
	}
}

func fail(response http.ResponseWriter, err error) {
	var refused *refusal
	if errors.As(err, &refused) {
		sendJSON(response, http.StatusBadGateway, refused)
		return
	}
	// Errors of the client name addresses, and no body.
	log.Print(err)
	http.Error(response, "the instance cannot be reached", http.StatusBadGateway)
}

func sendJSON(response http.ResponseWriter, status int, value any) {
	response.Header().Set("Content-Type", "application/json")
	response.WriteHeader(status)
	if err := json.NewEncoder(response).Encode(value); err != nil {
		log.Print(err)
	}
}

func (p *partner) jwks(response http.ResponseWriter, _ *http.Request) {
	public, err := p.key.PublicKey.ECDH()
	if err != nil {
		fail(response, err)
		return
	}
	// An uncompressed point: 4, x, y.
	point := public.Bytes()[1:]
	encode := base64.RawURLEncoding.EncodeToString
	response.Header().Set("Cache-Control", "max-age=300")
	sendJSON(response, http.StatusOK, map[string]any{"keys": []map[string]string{{
		"kty": "EC", "crv": "P-256", "x": encode(point[:32]), "y": encode(point[32:]),
		"kid": keyID, "alg": "ES256", "use": "sig",
	}}})
}

func (p *partner) publicPEM(response http.ResponseWriter, _ *http.Request) {
	der, err := x509.MarshalPKIXPublicKey(&p.key.PublicKey)
	if err != nil {
		fail(response, err)
		return
	}
	response.Header().Set("Content-Type", "application/x-pem-file")
	if err := pem.Encode(response, &pem.Block{Type: "PUBLIC KEY", Bytes: der}); err != nil {
		log.Print(err)
	}
}

func (p *partner) embedToken(response http.ResponseWriter, _ *http.Request) {
	token, err := p.sign(user, embedLifetime)
	if err != nil {
		fail(response, err)
		return
	}
	response.Header().Set("Content-Type", "text/plain")
	response.Header().Set("Cache-Control", "no-store")
	fmt.Fprint(response, token)
}

// signOut ends everything that the user has opened on the instance (OpenID Connect Back-Channel Logout 1.0).
func (p *partner) signOut(response http.ResponseWriter, _ *http.Request) {
	claims := jwt.MapClaims{"sub": user["sub"], "events": map[string]any{logoutEvent: map[string]any{}}}
	token, err := p.sign(claims, logoutLife)
	if err != nil {
		fail(response, err)
		return
	}
	answer, err := client.PostForm(instanceURL+"/rest/auth/backchannel-logout", url.Values{"logout_token": {token}})
	if err != nil {
		fail(response, err)
		return
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		fail(response, &refusal{Code: answer.Status, RequestID: answer.Header.Get("X-Request-Id")})
		return
	}
	response.WriteHeader(http.StatusNoContent)
}

func (p *partner) page(name string) http.HandlerFunc {
	return func(response http.ResponseWriter, _ *http.Request) {
		text, err := os.ReadFile(filepath.Join(pageDir, name))
		token := ""
		if err == nil && name == "plain.html" {
			token, err = p.sign(user, embedLifetime)
		}
		if err != nil {
			fail(response, err)
			return
		}
		filled := strings.NewReplacer(
			"{{INSTANCE_URL}}", html.EscapeString(instanceURL), "{{TOKEN}}", html.EscapeString(token))
		response.Header().Set("Content-Type", "text/html; charset=utf-8")
		response.Header().Set("Cache-Control", "no-store")
		fmt.Fprint(response, filled.Replace(string(text)))
	}
}

func script(name string) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		http.ServeFile(response, request, filepath.Join(pageDir, name))
	}
}

func main() {
	key, err := loadKey()
	if err != nil {
		log.Fatal(err)
	}
	p := &partner{key: key, kept: map[string]keptToken{}}
	http.HandleFunc("GET /.well-known/jwks.json", p.jwks)
	http.HandleFunc("GET /partner.pem", p.publicPEM)
	http.HandleFunc("POST /embed-token", p.embedToken)
	http.HandleFunc("POST /sign-out", p.signOut)
	http.HandleFunc("GET /workflows", p.overview(user, nil))
	http.HandleFunc("GET /support/workflows", p.overview(user, support))
	http.HandleFunc("GET /{$}", p.page("index.html"))
	http.HandleFunc("GET /plain", p.page("plain.html"))
	http.HandleFunc("GET /page.js", script("page.js"))
	http.HandleFunc("GET /plain.js", script("plain.js"))
	log.Printf("listening on http://localhost:%s", port)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, nil))
}
