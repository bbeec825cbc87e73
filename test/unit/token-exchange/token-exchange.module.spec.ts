// Services that the module does not make because a module of the host offers them.
import { AccessTokenService } from '../../../src/token-exchange/tokens/access-token.service.js';
import { UserDirectory } from '../../../src/token-exchange/host/users.js';
import { TokenExchangeModule } from '../../../src/token-exchange/token-exchange.module.js';
import type { TokenExchangeParts } from '../../../src/token-exchange/token-exchange.parts.js';

describe('TokenExchangeModule', () => {
  const roles = { assignable: ['member'], owner: 'owner', initial: 'member' };
  const register = (imported?: TokenExchangeParts['imported']) =>
    TokenExchangeModule.register(
      { trustedKeys: [], roles },
      { users: { useExisting: UserDirectory }, imported },
    );

  it('makes no service that a module of the host offers', () => {
    expect(register().exports).toContain(AccessTokenService);
    expect(register().providers).toContain(AccessTokenService);
    expect(register([AccessTokenService]).exports).not.toContain(AccessTokenService);
    expect(register([AccessTokenService]).providers).not.toContain(AccessTokenService);
  });

  it('refuses one that it would not make', () => {
    expect(() => register([Date])).toThrow('imported: the module makes no Date');
  });
});
