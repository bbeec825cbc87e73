// Checks the throttle guard over HTTP: which requests share a bucket, and what a client is told.
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import { Catch, Controller, Get, Post, UseFilters, UseGuards } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import type { FastifyReply } from 'fastify';
import {
  CountingStorage,
  THROTTLE_STORAGE,
} from '../../../../../src/platform/http/throttle/counting.storage.js';
import { MemoryCounts } from '../../../../../src/platform/http/throttle/memory-counts.js';
import { minuteThrottler } from '../../../../../src/platform/http/throttle/minute-throttler.js';
import { TooManyRequestsError } from '../../../../../src/platform/http/throttle/rate-limit.js';
import { TestClock } from '../../../../support/test-clock.js';

const clock = new TestClock();

const LIMIT = Symbol('LIMIT');
const perMinute = (limit: number) => limit;
const RedThrottlerGuard = minuteThrottler('red', LIMIT, perMinute);
const BlueThrottlerGuard = minuteThrottler('blue', LIMIT, perMinute);

@Catch(TooManyRequestsError)
class FlowFilter implements ExceptionFilter<TooManyRequestsError> {
  catch({ headers, retryAfterSeconds }: TooManyRequestsError, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    void reply.status(429).headers(headers).send({ retryAfterSeconds });
  }
}

@Controller()
@UseFilters(FlowFilter)
class FlowController {
  @Get('red')
  @UseGuards(RedThrottlerGuard)
  readRed(): string {
    return 'read';
  }

  @Post('red')
  @UseGuards(RedThrottlerGuard)
  writeRed(): string {
    return 'written';
  }

  @Get('blue')
  @UseGuards(BlueThrottlerGuard)
  readBlue(): string {
    return 'read';
  }
}

describe('[D19] the throttle guard', () => {
  let app: NestFastifyApplication;

  beforeEach(async () => {
    const providers = [
      { provide: LIMIT, useValue: 2 },
      { provide: THROTTLE_STORAGE, useValue: new CountingStorage(new MemoryCounts(clock)) },
    ];
    const testing = await Test.createTestingModule({ providers, controllers: [FlowController] }).compile();
    app = testing.createNestApplication<NestFastifyApplication>(
      new FastifyAdapter({ trustProxy: (_address, hop) => hop < 1 }),
    );
    await app.init();
    await app.getHttpAdapter().getInstance().ready();
  });
  afterEach(() => app.close());

  const request = async (method: 'GET' | 'POST', url: string, address = '203.0.113.9') => {
    const { statusCode, headers, body } = await app.inject({
      method,
      url,
      headers: { 'x-forwarded-for': address },
    });
    const numbers = Object.fromEntries(
      Object.entries(headers).filter(([name]) => /^(x-)?ratelimit|^retry-after/.test(name)),
    );
    return { statusCode, numbers, body };
  };

  it('[D19] reports the client its limit with every answer, and when to come back with a refusal', async () => {
    expect(await request('GET', '/red')).toMatchObject({
      statusCode: 200,
      numbers: { 'ratelimit-limit': '2', 'ratelimit-remaining': '1', 'ratelimit-reset': '60' },
    });
    clock.advance(0.5);
    expect((await request('GET', '/red')).numbers).toEqual({
      'ratelimit-limit': '2',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '60',
    });
    clock.advance(9.5);
    expect(await request('GET', '/red')).toEqual({
      statusCode: 429,
      numbers: {
        'ratelimit-limit': '2',
        'ratelimit-remaining': '0',
        'ratelimit-reset': '50',
        'retry-after': '50',
      },
      body: '{"retryAfterSeconds":50}',
    });
    clock.advance(50);
    expect((await request('GET', '/red')).statusCode).toBe(200);
  });

  it('[D19] counts GET and POST of one bucket together, and another bucket apart', async () => {
    await request('GET', '/red');
    await request('POST', '/red');
    expect((await request('POST', '/red')).statusCode).toBe(429);
    expect((await request('GET', '/red')).statusCode).toBe(429);
    expect((await request('GET', '/blue')).statusCode).toBe(200);
  });

  it('[D19] counts by IPv4 address and by IPv6 /64', async () => {
    const statuses = async (addresses: string[]) => {
      const answers = [];
      for (const address of addresses) answers.push((await request('GET', '/red', address)).statusCode);
      return answers;
    };
    expect(await statuses(['2001:db8::1', '2001:db8::2:0:0:1', '2001:db8::3'])).toEqual([200, 200, 429]);
    expect(await statuses(['2001:db8:0:1::1', '192.0.2.1', '192.0.2.2'])).toEqual([200, 200, 200]);
  });

  it('[D19] lets exactly the limit through of many at once', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => request('GET', '/red')));
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(2);
  });
});
