// Gets access tokens by the grant of RFC 7523, with golang.org/x/oauth2/jwt, as a job that signs its JWTs itself.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/jwt"
)

// The package writes no jti, and one of PrivateClaims is the same in each JWT: this has a new one for each token.
type source struct{ config jwt.Config }

func (s source) Token() (*oauth2.Token, error) {
	config := s.config
	config.PrivateClaims = map[string]any{"jti": rand.Text()}
	return config.TokenSource(context.Background()).Token()
}

func main() {
	base, endpoint, issuer, kid, subject := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5]
	config := jwt.Config{
		Email: issuer, Subject: subject, TokenURL: endpoint,
		PrivateKey: []byte(os.Getenv("KEY")), PrivateKeyID: kid,
	}
	check("x/oauth2 without a jti is refused", refused(config))

	config.PrivateClaims = map[string]any{"jti": rand.Text()}
	check("x/oauth2 with a jti calls the API", call(config.Client(context.Background()), base))
	check("x/oauth2 with the same jti is refused", refused(config))

	for _, which := range []string{"a token", "another"} {
		tokens := oauth2.ReuseTokenSource(nil, source{config})
		check("x/oauth2 with a jti for each gets "+which, call(oauth2.NewClient(context.Background(), tokens), base))
	}
}

func refused(config jwt.Config) error {
	_, err := config.TokenSource(context.Background()).Token()
	var answer *oauth2.RetrieveError
	if !errors.As(err, &answer) || answer.Response.StatusCode != http.StatusBadRequest {
		return fmt.Errorf("it answered %v", err)
	}
	return nil
}

func call(client *http.Client, base string) error {
	answer, err := client.Get(base + "/rest/me")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the API answered %d", answer.StatusCode)
	}
	return nil
}

func check(what string, err error) {
	if err != nil {
		fmt.Printf("failed: %s: %v\n", what, err)
		os.Exit(1)
	}
	fmt.Println("ok: " + what)
}
