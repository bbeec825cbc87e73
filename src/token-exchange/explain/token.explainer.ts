// Explains whether the service would accept a token, by the code that checks tokens, on stored data, and without using it up.
import { Clock } from '../../platform/clock.js';
import type { Transaction, Transactions } from '../../platform/database/transaction.js';
import { SILENT } from '../../platform/log/log.js';
import type { AuthenticatedClient } from '../assertions/client-authenticator.js';
import { refuseWithoutKey } from '../dpop/dpop-proofs.js';
import type { DpopProof } from '../dpop/proof-checks.js';
import { explainProof, publicAddress, verifyProof } from '../dpop/proof-checks.js';
import type { AccessFlow } from '../endpoint/flows.js';
import { FLOWS } from '../endpoint/flows.js';
import { TOKEN_PATH } from '../endpoint/paths.js';
import type { AskedGrants, Terms } from '../exchange/issuance.planner.js';
import { askedOf, checkTerms } from '../exchange/issuance.planner.js';
import type { ProjectDirectory } from '../host/projects.js';
import type { UserDirectory } from '../host/users.js';
import { readCandidates, withSeats } from '../identity/candidates.js';
import type { Candidates, UserDecision } from '../identity/decide.js';
import { decide, inOrder } from '../identity/decide.js';
import type { IdentityLinkRepository } from '../identity/identity-link.repository.js';
import type { SeatRepository } from '../identity/seat.repository.js';
import type { LoginSource } from '../login/login-checks.js';
import { verifyLogin } from '../login/login-checks.js';
import type { RefusedToken, SubjectOrActor } from '../refusals/oauth-refusal.js';
import { inContext, isTokenRefusal, OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { JtiRepository } from '../replay/jti.repository.js';
import { replayRefusal, shareOut } from '../replay/use.repository.js';
import type { RevocationRepository } from '../revocation/revocation.repository.js';
import { FROM_THE_BEGINNING } from '../revocation/revocation.repository.js';
import { Revocations } from '../revocation/revocations.js';
import { algorithmNamed } from '../trust/algorithms.js';
import { applyStored } from '../trust/jwks/jwks-cache-entry.js';
import { JwksKeyProvider } from '../trust/jwks/jwks-key.provider.js';
import type { JwksSnapshotRepository } from '../trust/jwks/jwks-snapshot.repository.js';
import { StaticKeyProvider, TrustedKeyService } from '../trust/lookup/trusted-key.service.js';
import type { CheckedStoredEntry } from '../trust/stored/stored-entry.js';
import type { TrustedKeyEntry } from '../trust/trusted-key.js';
import type { CheckResult } from '../verify/check-runner.js';
import { parseCompactJws } from '../verify/compact-jws.js';
import type { Tokens } from '../verify/external-token.verifier.js';
import {
  ExternalTokenVerifier,
  issuerAndKid,
  usesOf,
  verifyAssertion,
  verifyExchange,
} from '../verify/external-token.verifier.js';
import type { EvaluatedRequest, EvaluatedToken } from './evaluated-request.js';
import { explanationOf } from './evaluated-request.js';
import type {
  EndpointRefusal,
  ExplanationRequest,
  ExplanationRules,
  TokenExplanation,
} from './token-explanation.js';

export interface ExplanationSources {
  readonly transactions: Transactions;
  /** The stored entries, checked. */
  readonly storedEntries: () => Promise<readonly CheckedStoredEntry[]>;
  readonly keySets: JwksSnapshotRepository;
  readonly revocations: RevocationRepository;
  readonly jtis: JtiRepository;
  readonly links: IdentityLinkRepository;
  readonly users: UserDirectory;
  readonly projects?: ProjectDirectory;
  readonly seats: SeatRepository;
  readonly clock: Clock;
}

/** The issuers and keys that the service trusts now, from the database and the configuration. */
interface Trust {
  readonly entries: readonly TrustedKeyEntry[];
  readonly keys: TrustedKeyService;
  readonly revocations: Revocations;
}

/**
 * A clock that stands still. Times are checked as of one moment, now or another; stored data as it is now (D80).
 */
class StoppedClock extends Clock {
  constructor(private readonly moment: Date) {
    super();
  }

  override nowMs(): number {
    return this.moment.getTime();
  }
}

/**
 * Writes, locks, fetches and counts nothing, so that the token stays usable.
 * @rule D80 An explanation runs the code that checks requests, only reads, and leaves the token usable.
 * See `decide` for the user, `JwksKeyProvider` for keys, `Transactions.read` for the database.
 */
export class TokenExplainer {
  constructor(
    private readonly rules: ExplanationRules,
    private readonly sources: ExplanationSources,
  ) {}

  /** @throws the driver's error if the database cannot be read */
  async explain(request: ExplanationRequest): Promise<TokenExplanation> {
    // One moment for all checks, so that no token expires between two of them.
    const clock = new StoppedClock(request.at ?? this.sources.clock.now());
    const trust = await this.trust(clock);
    const evaluation = new Evaluation(this.rules, this.sources, trust, clock);
    return explanationOf(await evaluation.of(request));
  }

  private async trust(clock: Clock): Promise<Trust> {
    const { storedEntries, keySets, revocations } = this.sources;
    const { options } = this.rules;
    const stored = (await storedEntries()).flatMap(({ entry }) => entry ?? []);
    const staticKeys = new StaticKeyProvider(options);
    staticKeys.replaceStored(stored.filter((entry) => entry.type === 'static'));
    const { trustedKeys, jwks } = options;
    const configured = trustedKeys.filter((entry) => entry.type === 'jwks');
    const fetchedKeys = new JwksKeyProvider(configured, jwks.maxStaleSeconds, clock, SILENT);
    fetchedKeys.replaceStored(stored.filter((entry) => entry.type === 'jwks'));
    await applyStored(keySets, fetchedKeys.cached);
    const known = new Revocations();
    const news = await revocations.read(FROM_THE_BEGINNING);
    known.learn(news, Number.POSITIVE_INFINITY, this.sources.clock.nowMs());
    return {
      entries: [...trustedKeys, ...stored],
      keys: new TrustedKeyService(staticKeys, fetchedKeys),
      revocations: known,
    };
  }
}

/** The evaluation of one request, up to its refusal. */
class Evaluation {
  private readonly verifier: ExternalTokenVerifier;
  private readonly candidates: Partial<Record<SubjectOrActor, Candidates>> = {};
  private readonly decisions: Partial<Record<SubjectOrActor, UserDecision>> = {};
  private terms: Terms | undefined;
  private proofResults: readonly CheckResult[] = [];
  private proof: DpopProof | undefined;

  constructor(
    private readonly rules: ExplanationRules,
    private readonly sources: ExplanationSources,
    private readonly trust: Trust,
    private readonly clock: Clock,
  ) {
    this.verifier = new ExternalTokenVerifier(trust.keys, clock, rules.options);
  }

  async of(request: ExplanationRequest): Promise<EvaluatedRequest> {
    const { token, actorToken } = request;
    const closed = this.closed(request.flow);
    const refusal = closed === undefined ? await this.refusalOf(request) : undefined;
    return {
      request,
      now: this.clock.now(),
      rules: this.rules,
      entries: this.trust.entries,
      closed,
      refusal,
      terms: this.terms,
      proofResults: this.proofResults,
      keyThumbprint: this.proof?.thumbprint,
      subject: await this.evaluated('subject', request, token),
      actor: actorToken === undefined ? undefined : await this.evaluated('actor', request, actorToken),
    };
  }

  /** Why the endpoint would accept no token. */
  private closed(flow: AccessFlow): EndpointRefusal | undefined {
    const { options } = this.rules;
    if (!options.isOffered()) return 'not_available';
    return options[FLOWS[flow].switch].enabled ? undefined : 'not_enabled';
  }

  private async refusalOf(request: ExplanationRequest): Promise<RefusedToken | undefined> {
    try {
      const tokens = await this.examine(request);
      await this.sources.transactions.read(async (transaction) => {
        await this.refuseReplay(transaction, tokens);
        await this.decide(transaction, tokens);
      });
      return undefined;
    } catch (error) {
      if (isTokenRefusal(error)) return error;
      throw error;
    }
  }

  /** Everything before the tokens would be used up. */
  private async examine(request: ExplanationRequest): Promise<Tokens> {
    const { verifier } = this;
    const { revocations } = this.trust;
    const { token, actorToken, origin } = request;
    if (request.flow === 'embed') {
      const source: LoginSource = { method: 'POST', origin, fetchSite: undefined };
      return verifyLogin({ verifier, revocations }, { token, source });
    }
    const { flow } = request;
    const tokens =
      flow === 'exchange'
        ? await verifyExchange({ verifier, revocations }, { subjectToken: token, actorToken })
        : await verifyAssertion(
            { verifier, revocations },
            { flow, assertion: token, client: flow === 'id-jag' ? supposedClient(token) : undefined },
          );
    this.proof = request.proof === undefined ? undefined : await this.verifyProof(request.proof);
    refuseWithoutKey(tokens, this.proof);
    this.terms = this.termsOf(askedOf(request, tokens), tokens);
    return { ...tokens, proof: this.proof };
  }

  private async verifyProof(text: string): Promise<DpopProof> {
    const address = publicAddress(this.rules.audience ?? '', TOKEN_PATH);
    const sent = { text, method: 'POST', address };
    const terms = { now: this.clock.nowSeconds() };
    this.proofResults = await explainProof(sent, terms);
    return verifyProof(sent, terms);
  }

  private termsOf(asked: AskedGrants, tokens: Tokens): Terms {
    const { maxTokenLifetimeSeconds } = this.rules.options.exchange;
    const limits = { now: this.clock.nowSeconds(), maxTokenLifetimeSeconds, host: this.rules.audience };
    return checkTerms(asked, tokens, limits);
  }

  private async refuseReplay(transaction: Transaction, tokens: Tokens): Promise<void> {
    const { asked, replayed } = shareOut([usesOf(tokens)]);
    const isUsed = replayed.size > 0 || (await this.sources.jtis.hasUsed(transaction, asked));
    if (isUsed) throw replayRefusal(tokens);
    const ofProof = shareOut([tokens.proof === undefined ? [] : [tokens.proof.use]]);
    if (await this.sources.jtis.hasUsed(transaction, ofProof.asked))
      throw new OAuthRefusal('dpop_proof_replayed', issuerAndKid(tokens.subject));
  }

  private async decide(transaction: Transaction, tokens: Tokens): Promise<void> {
    for (const { party, token } of inOrder(tokens)) {
      try {
        const found = await readCandidates(transaction, token, this.sources);
        const seats = { seats: this.sources.seats, keys: this.trust.keys };
        const candidates = await withSeats(transaction, token, found, seats);
        this.candidates[party] = candidates;
        this.decisions[party] = decide(token, candidates, this.rules.options.roles);
      } catch (error) {
        throw inContext(error, { party, ...issuerAndKid(token) });
      }
    }
  }

  private async evaluated(
    which: SubjectOrActor,
    { flow }: ExplanationRequest,
    token: string,
  ): Promise<EvaluatedToken> {
    const client = flow === 'id-jag' ? supposedClient(token) : undefined;
    const results = await this.verifier.explain(token, flow, client);
    const { header, payload } = partsOf(token);
    const [issuer, kid] = [payload?.['iss'], header?.['kid']];
    const isNamed = typeof issuer === 'string' && typeof kid === 'string';
    const [key] = isNamed ? await this.trust.keys.find(issuer, kid, algorithmNamed(header?.['alg'])) : [];
    const [only, ...others] = this.trust.entries.filter((entry) => entry.issuer === issuer);
    const policy = key?.policy ?? (others.length === 0 ? only : undefined);
    const [candidates, decision] = [this.candidates[which], this.decisions[which]];
    return { party: which, results, header, payload, policy, candidates, decision };
  }
}

/** The client that an assertion names, as if it had authenticated: an explanation has no credentials. */
function supposedClient(token: string): AuthenticatedClient {
  const { client_id: id, iss: issuer } = partsOf(token).payload ?? {};
  const issuers = new Set(typeof issuer === 'string' ? [issuer] : []);
  return { id: typeof id === 'string' ? id : '', issuers };
}

/** Empty if it is no JWT. */
function partsOf(token: string): Pick<EvaluatedToken, 'header' | 'payload'> {
  try {
    return parseCompactJws(token);
  } catch (error) {
    if (isTokenRefusal(error)) return {};
    throw error;
  }
}
