// Why token exchange is unavailable: a code for programs, a sentence for the operator, and the log lines at the start and at each
// change.
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { VARIABLES } from '../config/environment.js';
import { License } from '../config/license.js';
import type { Startup } from '../config/startup.js';
import { STARTUP } from '../config/startup.js';
import { Clock } from '../platform/clock.js';
import type { Log } from '../platform/log/log.js';
import { LOGGER } from '../platform/log/log.js';
import { counted } from '../platform/text/wording.js';
import { ENDPOINT_PATHS } from '../token-exchange/instance.js';

/** Why both endpoints return 404. */
export type UnavailableReason =
  'flag_off' | 'flag_not_true' | 'no_license' | 'feature_not_licensed' | 'license_ended';

/** The public reason, which reveals neither the configuration nor other licensed features. */
type PublicReason = 'not_enabled' | 'not_licensed' | 'license_ended';

export type AvailabilitySettings = Pick<Startup, 'config' | 'given' | 'license'>;

export const PUBLIC_REASONS: Record<UnavailableReason, PublicReason> = {
  flag_off: 'not_enabled',
  flag_not_true: 'not_enabled',
  no_license: 'not_licensed',
  feature_not_licensed: 'not_licensed',
  license_ended: 'license_ended',
};

/**
 * The first missing condition; undefined if token exchange should be available. See
 * health.module.ts for readiness.
 * @param nowMs milliseconds since the Unix epoch
 */
export function unavailableBecause(
  { config, given, license }: AvailabilitySettings,
  nowMs: number,
): UnavailableReason | undefined {
  if (!config.featureFlag) return flagRemark(given) === undefined ? 'flag_off' : 'flag_not_true';
  if (license === License.NONE) return 'no_license';
  if (!license.features.has('token-exchange')) return 'feature_not_licensed';
  return license.hasEnded(nowMs) ? 'license_ended' : undefined;
}

/** The end of token exchange, in milliseconds since the Unix epoch. While the process runs, only the licence's end can end it. */
export function offeredUntilMs(settings: AvailabilitySettings): number {
  const isOffered = unavailableBecause(settings, Number.NEGATIVE_INFINITY) === undefined;
  return isOffered ? settings.license.expiresAt.getTime() : Number.NEGATIVE_INFINITY;
}

/** The explanation for the operator. The features are from a licence with a valid signature. */
export function explanationOf(reason: UnavailableReason, { given, license }: AvailabilitySettings): string {
  const flag = VARIABLES.featureFlag.name;
  switch (reason) {
    case 'flag_off':
      return `${flag} is not set to true`;
    case 'flag_not_true':
      return `${flag} ${flagRemark(given) ?? ''}`;
    case 'no_license':
      return `there is no licence: set ${VARIABLES.license.name} or ${VARIABLES.license.name}_FILE`;
    case 'feature_not_licensed':
      return `the licence does not include token-exchange; it includes ${[...license.features].join(', ') || 'none at all'}`;
    case 'license_ended':
      return `the licence has ended: ${endOf(license)}`;
  }
}

export function endOf({ expiresAt }: License): string {
  return Number.isNaN(expiresAt.getTime()) ? 'at an invalid date' : expiresAt.toISOString();
}

function flagRemark(given: Startup['given']): string | undefined {
  return given.get(VARIABLES.featureFlag.name)?.remark;
}

/**
 * How often the state is checked. One timer for the expiry would not work: clocks are set, and no timer can
 * run for more than 24 days.
 */
const POLL_INTERVAL_MS = 1_000;
const DAY_MS = 86_400_000;
/** How many days before its expiry the licence is warned of. */
const WARNING_DAYS = 30;

const OFF = 'token exchange is off, and its endpoints answer 404';
const CALLS = 'calls of the API that need a licensed feature answer 403';

/** Log levels: a warning for what was requested but is unavailable, an error for what has expired. */
const LEVELS: Record<UnavailableReason, 'info' | 'warn' | 'error'> = {
  flag_off: 'info',
  flag_not_true: 'warn',
  no_license: 'warn',
  feature_not_licensed: 'warn',
  license_ended: 'error',
};

/** Whether an optional part of the service is available, and if not, a code for the reason. */
export interface FeatureState {
  readonly available: boolean;
  readonly reason?: string;
  /** Whether its flows are on, if it is available. */
  readonly embedLogin?: boolean;
  readonly exchange?: boolean;
  /** The number of key sets in each state, if entries have any. */
  readonly keySets?: Readonly<Record<string, number>>;
}

@Injectable()
export class AvailabilityReporter implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private logged: UnavailableReason | undefined;
  private isEndLogged = false;
  /** On the monotonic clock: setting the system clock neither repeats nor delays a warning. */
  private warnedAtMs = Number.NEGATIVE_INFINITY;
  /** If token exchange is off at the start, it is not loaded and stays off, even if the clock is set back. */
  private readonly reasonAtStart: UnavailableReason | undefined;

  constructor(
    @Inject(STARTUP) private readonly settings: AvailabilitySettings,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly log: Log,
  ) {
    this.reasonAtStart = unavailableBecause(settings, clock.nowMs());
  }

  onApplicationBootstrap(): void {
    const { reason } = this;
    if (reason === undefined) this.warnOfSwitches();
    else this.logOff(reason);
    this.logged = reason;
    this.lookAtEnd();
    this.timer = setInterval(() => this.look(), POLL_INTERVAL_MS).unref();
  }

  beforeApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** The state for readiness, which is public. */
  get state(): FeatureState {
    const { reason } = this;
    if (reason !== undefined) return { available: false, reason: PUBLIC_REASONS[reason] };
    const { embedLoginEnabled: embedLogin, exchangeEnabled: exchange } = this.settings.config;
    return { available: true, embedLogin, exchange };
  }

  private get reason(): UnavailableReason | undefined {
    return this.reasonAtStart ?? unavailableBecause(this.settings, this.clock.nowMs());
  }

  private look(): void {
    const { reason } = this;
    if (reason !== undefined && reason !== this.logged) this.logOff(reason);
    this.logged = reason;
    this.lookAtEnd();
  }

  private logOff(reason: UnavailableReason): void {
    const calls = reason === 'license_ended' ? `; ${CALLS}` : '';
    const text = `${OFF}: ${explanationOf(reason, this.settings)}${calls}`;
    this.log[LEVELS[reason]]({ reason, endpoints: ENDPOINT_PATHS }, text);
  }

  private lookAtEnd(): void {
    const { license } = this.settings;
    if (license === License.NONE) return;
    const hasEnded = license.hasEnded(this.clock.nowMs());
    if (hasEnded && !this.isEndLogged) this.logEnd();
    if (!hasEnded) this.warnOfEnd();
    this.isEndLogged = hasEnded;
  }

  /** Logs the expiry, unless the line about token exchange has already reported it. */
  private logEnd(): void {
    if (this.logged === 'license_ended') return;
    const { license } = this.settings;
    this.log.error({ licenseEndsAt: endOf(license) }, `the licence has ended: ${endOf(license)}; ${CALLS}`);
  }

  private warnOfEnd(): void {
    const { license, config } = this.settings;
    const days = (license.expiresAt.getTime() - this.clock.nowMs()) / DAY_MS;
    const nowMs = this.clock.monotonicMs();
    if (days > WARNING_DAYS || nowMs - this.warnedAtMs < DAY_MS) return;
    this.warnedAtMs = nowMs;
    const lost = config.featureFlag ? 'then token exchange is off, and ' : 'then ';
    this.log.warn(
      { licenseEndsAt: endOf(license), daysLeft: Math.floor(days) },
      `the licence ends within ${counted(Math.ceil(days), 'day')}: ${endOf(license)}; ${lost}${CALLS}`,
    );
  }

  private warnOfSwitches(): void {
    const { config } = this.settings;
    if (config.embedLoginEnabled || config.exchangeEnabled || config.idAssertionEnabled) return;
    const { embedLoginEnabled, exchangeEnabled, idAssertionEnabled } = VARIABLES;
    const switches = `${embedLoginEnabled.name}, ${exchangeEnabled.name} and ${idAssertionEnabled.name}`;
    this.log.warn(
      { endpoints: ENDPOINT_PATHS },
      `token exchange is on, but its endpoints answer 501: none of ${switches} is true`,
    );
  }
}
