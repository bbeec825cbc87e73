// `register` and `registerAsync` of TokenExchangeModule.
import type { DynamicModule, ModuleMetadata } from '@nestjs/common';
import { applyDecorators, ConfigurableModuleBuilder } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { withStartErrors } from '../platform/start-error.js';
import { FLOW_CONTROLLERS } from './endpoint/flow.controllers.js';
import { HOST_EXPORTS, hostProviders } from './host/host.providers.js';
import { HostPartsModule } from './host/host-parts.module.js';
import { PUBLISHED_CONTROLLERS, WellKnownModule } from './metadata/metadata.controller.js';
import { PATH_PREFIX } from './settings/settings.js';
import type { RouteSettings, TokenExchangeSettings } from './settings/token-exchange.options.js';
import { ROUTE_SETTINGS, TOKEN_EXCHANGE_SETTINGS } from './settings/token-exchange.options.js';
import { completedRoutes, givenSettings } from './settings/token-exchange.settings.js';

/** Options of `register` and `registerAsync` besides the settings. */
export interface ModuleExtras extends RouteSettings {
  /** Modules that export the parts of the host, among them its `UserDirectory`. */
  readonly imports?: ModuleMetadata['imports'];
  /** The name of the host's TypeORM data source, if it has one. */
  readonly dataSource?: string;
  /**
   * Decorate the controllers. They tell the host's guards that these routes need no credential of the host, and have their own
   * throttles.
   */
  readonly decorators?: readonly ClassDecorator[];
}

const DEFAULTS: ModuleExtras = {
  imports: undefined,
  dataSource: undefined,
  decorators: undefined,
  pathPrefix: PATH_PREFIX,
  metadata: false,
};

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } =
  new ConfigurableModuleBuilder<TokenExchangeSettings>({ moduleName: 'TokenExchange' })
    .setExtras(DEFAULTS, configured)
    .build();

function configured(definition: DynamicModule, extras: ModuleExtras): DynamicModule {
  const { dataSource, decorators = [], pathPrefix = PATH_PREFIX, metadata = false } = extras;
  // `registerAsync` has put `imports` into the definition.
  const imports = definition.imports ?? extras.imports ?? [];
  for (const controller of [...FLOW_CONTROLLERS, ...PUBLISHED_CONTROLLERS])
    applyDecorators(...decorators)(controller);
  return {
    ...definition,
    // Every module of the host can guard its routes and use the services, also those modules that provide its parts.
    global: true,
    imports: [
      ...imports,
      HostPartsModule.from(imports),
      RouterModule.register([{ path: pathPrefix, module: definition.module }]),
      ...(metadata ? [WellKnownModule] : []),
    ],
    providers: [
      ...(definition.providers ?? []),
      {
        provide: TOKEN_EXCHANGE_SETTINGS,
        inject: [MODULE_OPTIONS_TOKEN],
        useFactory: withStartErrors(givenSettings),
      },
      {
        provide: ROUTE_SETTINGS,
        useFactory: withStartErrors(() => completedRoutes({ pathPrefix, metadata })),
      },
      ...hostProviders(dataSource),
    ],
    exports: [TOKEN_EXCHANGE_SETTINGS, ...HOST_EXPORTS],
  };
}
