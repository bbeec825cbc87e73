// Finds the token endpoint by discovery, exchanges and verifies, with golang.org/x/oauth2 and go-oidc.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

const grant = "urn:ietf:params:oauth:grant-type:token-exchange"
const jwt = "urn:ietf:params:oauth:token-type:jwt"

func main() {
	base, tokens := os.Args[1], os.Args[2:]
	ctx := context.Background()
	provider, err := oidc.NewProvider(ctx, base)
	check("go-oidc discovers", err)

	var token *oauth2.Token
	styles := []oauth2.AuthStyle{oauth2.AuthStyleInParams, oauth2.AuthStyleInHeader}
	for index, place := range []string{"form", "header"} {
		config := clientcredentials.Config{
			ClientID: "a-client", ClientSecret: "a secret",
			TokenURL: provider.Endpoint().TokenURL, AuthStyle: styles[index],
			// Some clients send all fields of RFC 8693, empty or not.
			EndpointParams: url.Values{
				"grant_type":    {grant},
				"subject_token": {tokens[index]}, "subject_token_type": {jwt},
				"actor_token": {""}, "actor_token_type": {""},
				"resource": {"urn:a", "urn:b"}, "audience": {"one", "two"},
			},
		}
		token, err = config.Token(ctx)
		check("x/oauth2 exchanges with a secret in the "+place, err)
	}
	check("x/oauth2 calls the API", call(oauth2.NewClient(ctx, oauth2.StaticTokenSource(token)), base))

	_, err = provider.Verifier(&oidc.Config{ClientID: base}).Verify(ctx, token.AccessToken)
	check("go-oidc verifies", err)
}

func call(client *http.Client, base string) error {
	answer, err := client.Get(base + "/rest/me")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var me struct{ Authentication string }
	if err := json.NewDecoder(answer.Body).Decode(&me); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK || me.Authentication != "access_token" {
		return fmt.Errorf("the API answered %d, %q", answer.StatusCode, me.Authentication)
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
