// The versions of the package's peers that are run: package.json's ranges are made of them.

/** Versions of everything that NestJS brings, and what goes with them. */
export interface PeerSet {
  readonly title: string;
  /** The peers of the package, exactly. */
  readonly peers: Readonly<Record<string, string>>;
  /** What else the host of the tests has of NestJS. */
  readonly host: Readonly<Record<string, string>>;
}

export const LOWEST_OF_11: PeerSet = {
  title: 'NestJS 11, the lowest of each range',
  peers: {
    '@nestjs/common': '11.0.1',
    '@nestjs/core': '11.0.1',
    '@nestjs/event-emitter': '3.0.0',
    '@nestjs/throttler': '6.4.0',
    '@nestjs/typeorm': '11.0.0',
    pg: '8.11.3',
    'reflect-metadata': '0.2.2',
    rxjs: '7.8.1',
    typeorm: '0.3.20',
  },
  host: {
    '@nestjs/platform-express': '11.0.1',
    '@nestjs/platform-fastify': '11.0.3',
    '@nestjs/testing': '11.0.1',
  },
};

export const NEWEST_OF_11: PeerSet = {
  title: 'NestJS 11, the newest',
  peers: {
    ...LOWEST_OF_11.peers,
    '@nestjs/common': '11.2.10',
    '@nestjs/core': '11.2.10',
    '@nestjs/event-emitter': '3.1.0',
    '@nestjs/throttler': '6.7.1',
    '@nestjs/typeorm': '11.0.3',
    pg: '8.23.1',
    rxjs: '7.8.2',
    typeorm: '0.3.31',
  },
  host: {
    '@nestjs/platform-express': '11.2.10',
    '@nestjs/platform-fastify': '11.2.8',
    '@nestjs/testing': '11.2.6',
  },
};

/** 12.0.0 asks for 11 as its own peer. */
export const LOWEST_OF_12: PeerSet = {
  title: 'NestJS 12, the lowest of each range',
  peers: {
    ...LOWEST_OF_11.peers,
    '@nestjs/common': '12.0.1',
    '@nestjs/core': '12.0.1',
    '@nestjs/event-emitter': '12.0.0',
    '@nestjs/throttler': '6.7.1',
    '@nestjs/typeorm': '12.0.0',
    typeorm: '1.0.0',
  },
  host: {
    '@nestjs/platform-express': '12.0.1',
    '@nestjs/platform-fastify': '12.0.1',
    '@nestjs/testing': '12.0.1',
  },
};

/** The sets of peer versions. The repository has the newest versions, which `npm test` runs. */
export const PEER_SETS: readonly PeerSet[] = [LOWEST_OF_11, NEWEST_OF_11, LOWEST_OF_12];
