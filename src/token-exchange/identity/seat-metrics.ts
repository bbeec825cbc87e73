// The seats of issuers, as metrics show them by entry.
import type { OnApplicationBootstrap } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { SeatsOfEntry } from '../host/telemetry.js';
import { ExchangeTelemetry } from '../host/telemetry.js';
import { TrustedKeyService } from '../trust/lookup/trusted-key.service.js';
import { SeatRepository } from './seat.repository.js';

@Injectable()
export class SeatMetrics implements OnApplicationBootstrap {
  constructor(
    private readonly keys: TrustedKeyService,
    private readonly seats: SeatRepository,
    private readonly database: Database,
    private readonly telemetry: ExchangeTelemetry,
  ) {}

  onApplicationBootstrap(): void {
    this.telemetry.watchSeats(() => this.read());
  }

  private async read(): Promise<SeatsOfEntry[]> {
    const entries = this.keys.seatedEntries;
    if (entries.length === 0) return [];
    const issuers = [...new Set(entries.map(({ issuer }) => issuer))];
    const counts = await this.seats.count(this.database.background, issuers);
    const users = new Map(counts.map((one) => [one.issuer, one.users]));
    return entries.map((entry) => ({ ...entry, users: users.get(entry.issuer) ?? 0 }));
  }
}
