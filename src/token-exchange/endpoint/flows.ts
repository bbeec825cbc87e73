// The table of endpoints and flows: what runner, guards, filter, metrics, explanations, pages and commands know of each of them.
// Start here to add one. Types derive from the rows, so the compiler lists what else it needs.

/** Settings of an endpoint or a flow, by their name in the options. */
type Settings =
  'exchange' | 'embedLogin' | 'idAssertion' | 'logout' | 'signals' | 'tokenIntrospection' | 'tokenRevocation';

interface EndpointRow {
  /** The path below the prefix of the settings. */
  readonly path: string;
  /** The name in the answer of an endpoint that is switched off. */
  readonly title: string;
  /** The settings whose `perMinute` limits each client address. */
  readonly throttle: Settings;
  /** The endpoint is on if one of these settings is `enabled`. An endpoint without any is always on. */
  readonly switches: readonly Settings[];
}

export const ENDPOINTS = {
  /**
   * @rule 8.6 Token exchanges per client address and minute.
   * @rule 5.1.4 = 7.2 A disabled token exchange answers 501, unless the endpoint takes identity assertions.
   */
  exchange: {
    path: '/oauth/token',
    title: 'Token exchange',
    throttle: 'exchange',
    switches: ['exchange', 'idAssertion'],
  },
  /**
   * @rule 8.5 Embedded logins per client address and minute; GET and POST share the count.
   * @rule 5.1.3 = 7.3 A disabled embedded login answers 501.
   */
  embed: {
    path: '/embed',
    title: 'Embed login',
    throttle: 'embedLogin',
    switches: ['embedLogin'],
  },
  logout: {
    path: '/backchannel-logout',
    title: 'Back-channel logout',
    // Counts logouts before their tokens are read. Verified ones are counted by issuer, too.
    throttle: 'logout',
    switches: [],
  },
  /** Security events of transmitters (RFC 8935). Those of a transmitter that has authenticated are counted by it, too. */
  signals: {
    path: '/events',
    title: 'Security events',
    throttle: 'signals',
    switches: [],
  },
  revocation: {
    path: '/oauth/revoke',
    title: 'Token revocation',
    throttle: 'tokenRevocation',
    // Without access tokens there is nothing to revoke.
    switches: ['exchange', 'idAssertion'],
  },
  introspection: {
    path: '/oauth/introspect',
    title: 'Token introspection',
    throttle: 'tokenIntrospection',
    switches: ['exchange', 'idAssertion'],
  },
  /** The entries decide whether it answers (`mayExplain`). It has its own count, with the limit of exchanges. */
  explain: {
    path: '/explain',
    title: 'Explanation',
    throttle: 'exchange',
    switches: [],
  },
} as const satisfies Record<string, EndpointRow>;

export type Endpoint = keyof typeof ENDPOINTS;

interface WorkRow {
  readonly endpoint: Endpoint;
  /** The name in log lines. */
  readonly work: string;
  /** The end of the 503 that a client gets while the database is unavailable. */
  readonly retryAdvice: string;
  /** The audit event of a refusal or an error. */
  readonly failureEvent: string;
}

interface FlowRow extends WorkRow {
  /** The counter of `Metrics.outcomes`. */
  readonly outcomes: string;
  /** The flow is on if these settings are `enabled`. Undefined if it is always on. */
  readonly switch: Settings | undefined;
  readonly gives: 'access-token' | 'session' | 'nothing';
  /** Whether the token is an assertion (RFC 7523). */
  readonly isAssertion: boolean;
  /** Whether the request may have an actor token. */
  readonly hasActor: boolean;
}

interface OtherRow extends WorkRow {
  /** Whether all refusals after a valid signature are recorded, because the limit of their address bounds them (D79). */
  readonly isBoundOnceVerified: boolean;
}

/** The purposes of an external token. verify/flow-checks.ts has the checks of each. */
export const FLOWS = {
  /** An external token, or a subject's and an actor's token, for an access token. */
  exchange: {
    endpoint: 'exchange',
    work: 'a token exchange',
    retryAdvice: 'retry with a fresh token',
    failureEvent: 'svc.audit.token-exchange.failed',
    outcomes: 'exchange',
    switch: 'exchange',
    gives: 'access-token',
    isAssertion: false,
    hasActor: true,
  },
  /** An external token for a session. */
  embed: {
    endpoint: 'embed',
    work: 'an embedded login',
    retryAdvice: 'sign in again with a fresh token',
    failureEvent: 'svc.audit.token-exchange.embed-login-failed',
    outcomes: 'embed',
    switch: 'embedLogin',
    gives: 'session',
    isAssertion: false,
    hasActor: false,
  },
  /** An identity assertion (ID-JAG), which an authenticated client sends, for an access token. */
  'id-jag': {
    endpoint: 'exchange',
    work: 'an identity assertion',
    retryAdvice: 'retry with a fresh assertion',
    failureEvent: 'svc.audit.token-exchange.failed',
    outcomes: 'id-jag',
    switch: 'idAssertion',
    gives: 'access-token',
    isAssertion: true,
    hasActor: false,
  },
  /** An external token as the assertion of RFC 7523, for an access token. */
  'jwt-bearer': {
    endpoint: 'exchange',
    work: 'a JWT assertion',
    retryAdvice: 'retry with a fresh assertion',
    failureEvent: 'svc.audit.token-exchange.failed',
    outcomes: 'exchange',
    switch: 'exchange',
    gives: 'access-token',
    isAssertion: true,
    hasActor: false,
  },
  /** A logout token, which ends what earlier tokens have opened. */
  logout: {
    endpoint: 'logout',
    work: 'a back-channel logout',
    retryAdvice: 'send the same logout token again',
    failureEvent: 'svc.audit.token-exchange.logout-failed',
    outcomes: 'logout',
    switch: undefined,
    gives: 'nothing',
    isAssertion: false,
    hasActor: false,
  },
} as const satisfies Record<string, FlowRow>;

export type Flow = keyof typeof FLOWS;
type FlowWith<Facts extends Partial<FlowRow>> = {
  [Name in Flow]: (typeof FLOWS)[Name] extends Facts ? Name : never;
}[Flow];
/** The flows that give access tokens. */
export type IssuingFlow = FlowWith<{ gives: 'access-token' }>;
/** The flows that give access. */
export type AccessFlow = IssuingFlow | FlowWith<{ gives: 'session' }>;
export type AssertionFlow = FlowWith<{ isAssertion: true }>;

/** The counters of outcomes that metrics need. */
export type OutcomeCounter = (typeof FLOWS)[Flow]['outcomes'];

export const FLOW_NAMES = Object.keys(FLOWS) as readonly Flow[];
export const ISSUING_FLOWS = FLOW_NAMES.filter(
  (flow) => FLOWS[flow].gives === 'access-token',
) as readonly IssuingFlow[];
export const ACCESS_FLOWS = FLOW_NAMES.filter(
  (flow) => FLOWS[flow].gives !== 'nothing',
) as readonly AccessFlow[];

/** Requests of clients and partners besides the flows. */
export const OTHER_WORK = {
  revocation: {
    endpoint: 'revocation',
    work: 'a token revocation',
    retryAdvice: 'the token may still hold, so try again',
    failureEvent: 'svc.audit.token-exchange.revocation-refused',
    isBoundOnceVerified: false,
  },
  introspection: {
    endpoint: 'introspection',
    work: 'an introspection',
    retryAdvice: 'ask again',
    failureEvent: 'svc.audit.token-exchange.introspection-refused',
    isBoundOnceVerified: false,
  },
  signals: {
    endpoint: 'signals',
    work: 'a security event',
    retryAdvice: 'send the same event again',
    failureEvent: 'svc.audit.token-exchange.signal-refused',
    isBoundOnceVerified: true,
  },
  explain: {
    endpoint: 'explain',
    work: 'a question about a refusal',
    retryAdvice: 'ask again with a fresh proof',
    failureEvent: 'svc.audit.token-exchange.explain-refused',
    isBoundOnceVerified: true,
  },
} as const satisfies Record<string, OtherRow>;

/** Every name under which requests are throttled, counted and logged. */
export const WORK = { ...FLOWS, ...OTHER_WORK };

export type ThrottledFlow = keyof typeof WORK;
export const THROTTLED_FLOWS = Object.keys(WORK) as readonly ThrottledFlow[];

export function isOfAssertion(flow: ThrottledFlow): flow is AssertionFlow {
  return flow in FLOWS && FLOWS[flow as Flow].isAssertion;
}
