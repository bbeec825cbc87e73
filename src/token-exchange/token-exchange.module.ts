// The parts list of token exchange: controllers, keys, the services that verify, consume and resolve, both flows, a job.
import type { DynamicModule, Type } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { repositoriesOf } from '../database/database.module.js';
import { ConsumptionService } from './consumption/consumption.service.js';
import { JtiPurgeJob } from './consumption/jti-purge.job.js';
import { JtiRepository, UsedJti } from './consumption/jti.repository.js';
import { DelegationController } from './delegation/delegation.controller.js';
import { DelegationService } from './delegation/delegation.service.js';
import { IssuancePlanner } from './delegation/issuance.planner.js';
import { EmbedLoginController } from './embed-login/embed-login.controller.js';
import { EmbedLoginService } from './embed-login/embed-login.service.js';
import { PlainHttpWarning } from './embed-login/plain-http.warning.js';
import { IdentityLink, IdentityLinkRepository } from './identity/identity-link.repository.js';
import { IdentityService } from './identity/identity.service.js';
import { Journey } from './journey.js';
import { JwksKeyProvider } from './keys/jwks/jwks-key.provider.js';
import type { JwksOptions } from './keys/jwks/jwks-options.js';
import { JWKS_OPTIONS } from './keys/jwks/jwks-options.js';
import { JwksSnapshot, JwksSnapshotRepository } from './keys/jwks/jwks-snapshot.repository.js';
import { StaticKeyProvider } from './keys/static-key.provider.js';
import { TrustedKeyService } from './keys/trusted-key.service.js';
import type { TokenExchangeOptions } from './token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from './token-exchange.options.js';
import { ExternalTokenVerifier } from './verification/external-token.verifier.js';

const KEYS = [StaticKeyProvider, JwksSnapshotRepository, JwksKeyProvider, TrustedKeyService];
const VERIFY_CONSUME_RESOLVE = [
  ExternalTokenVerifier,
  JtiRepository,
  ConsumptionService,
  IdentityLinkRepository,
  IdentityService,
  Journey,
];
const FLOWS = [IssuancePlanner, DelegationService, EmbedLoginService, PlainHttpWarning];
const JOBS = [JtiPurgeJob];

/** The modules that token exchange imports, each with what it must offer. Nothing reaches it that is not named here. */
export interface GivenModules {
  /** The ports of host.ts. */
  readonly ports: GivenModule;
  /** `Clock` */
  readonly clock: GivenModule;
  /** `LOGGER` */
  readonly logging: GivenModule;
  /** TypeORM's `DataSource`, which knows the module's entities. */
  readonly database: GivenModule;
  /** `Leader` and `Notifications` */
  readonly coordination: GivenModule;
  /** `AuditBus` */
  readonly audit: GivenModule;
  /** The storage in which the throttle guards count. */
  readonly throttle: GivenModule;
}

type GivenModule = Type | DynamicModule;

/** Registered only when flag and licence allow it (see app.module.ts). */
@Module({})
export class TokenExchangeModule {
  /** @param options checked values */
  static register(options: TokenExchangeOptions, given: GivenModules): DynamicModule {
    return {
      module: TokenExchangeModule,
      imports: [
        ...Object.values<GivenModule>({ ...given }),
        repositoriesOf([UsedJti, IdentityLink, JwksSnapshot], [given.database]),
      ],
      controllers: [DelegationController, EmbedLoginController],
      providers: [
        { provide: TOKEN_EXCHANGE_OPTIONS, useValue: options },
        { provide: JWKS_OPTIONS, useValue: jwksOptions(options) },
        ...KEYS,
        ...VERIFY_CONSUME_RESOLVE,
        ...FLOWS,
        ...JOBS,
      ],
      exports: [TrustedKeyService, JwksKeyProvider],
    };
  }
}

function jwksOptions({ trustedKeys, jwks }: TokenExchangeOptions): JwksOptions {
  return { ...jwks, entries: trustedKeys.filter((entry) => entry.type === 'jwks') };
}
