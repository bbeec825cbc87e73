// A host of CommonJS: whatever it imports is required, the package too.
import 'reflect-metadata';
import { TokenExchangeModule, UserDirectory } from '@embedded-token-exchange/nestjs';
import { NestFactory } from '@nestjs/core';
import { HostModule } from './host.module.js';
import { givenOptions } from './options.js';

async function start(): Promise<void> {
  const required: unknown = require('@embedded-token-exchange/nestjs');
  const isOne = (required as { UserDirectory: unknown }).UserDirectory === UserDirectory;
  console.log(`required ${typeof TokenExchangeModule.register} ${isOne}`);
  const app = await NestFactory.create(HostModule.with(givenOptions()));
  await app.listen(0, '127.0.0.1');
  console.log(`listening ${await app.getUrl()}`);
}

void start();
