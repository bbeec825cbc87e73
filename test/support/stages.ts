// Both flows with work of a test between their stages.
import { TokenExchangeService } from '../../src/token-exchange/exchange/token-exchange.service.js';
import { EmbeddedLoginService } from '../../src/token-exchange/login/embedded-login.service.js';
import { UseRepository } from '../../src/token-exchange/replay/use.repository.js';
import type { Tokens } from '../../src/token-exchange/verify/external-token.verifier.js';
import type { TestService } from './test-service.js';

/** Work that runs once the tokens of a request are verified, and once they are used up. */
export interface Between {
  readonly verified?: () => Promise<unknown>;
  readonly used?: () => Promise<unknown>;
  /** Whether the request takes a transaction, as at a host that does not name its table of users. */
  readonly isAlone?: boolean;
}

export interface Flows {
  readonly exchanges: TokenExchangeService;
  readonly logins: EmbeddedLoginService;
}

export function flowsOf(service: TestService, { verified, used, isAlone = false }: Between): Flows {
  const shared = service.part(UseRepository);
  const use = async (tokens: Tokens) => {
    await verified?.();
    const linked = await shared.use(tokens);
    await used?.();
    return isAlone ? {} : linked;
  };
  const withUse = <Part extends object>(part: Part) =>
    Object.assign(Object.create(part) as Part, { uses: { use } });
  return {
    exchanges: withUse(service.part(TokenExchangeService)),
    logins: withUse(service.part(EmbeddedLoginService)),
  };
}
