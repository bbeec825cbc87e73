// Starts the product on Express.
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { baseUrl, port } from './settings.js';

const app = await NestFactory.create<NestExpressApplication>(AppModule);
app.enableShutdownHooks();
await app.listen(port);
console.log(`The product answers at ${baseUrl}`);
