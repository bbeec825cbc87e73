// The port of the page for a refused login.

/** An embedded login that was refused, as far as others may hear of it. */
export interface LoginFailure {
  /** The stable word for programs. */
  readonly word: string;
  readonly requestId: string;
  /** How long the client is asked to wait, as `Retry-After` says it; undefined where it need not. */
  readonly retryAfterSeconds: number | undefined;
  /** The origin of the page that posted the login, if it named one; not checked. */
  readonly loginOrigin: string | undefined;
}

/** A page as it is answered. */
export interface RenderedPage {
  readonly contentType: string;
  readonly body: string;
}

/** The product's page for a refused login, in the frame in which its own script has posted it. */
export abstract class LoginFailurePage {
  /** Echoes nothing of the request, has no inline script, and sends the word only to sites that may frame the product. */
  abstract render(failure: LoginFailure): RenderedPage;
}
