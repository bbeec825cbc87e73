// A minimal program with the service's libraries: Nest on Fastify, TypeORM on PostgreSQL, one entity, one controller.
//
// It follows the libraries' introductory guides, in plain JavaScript: decorators are called as in compiled TypeScript.
// It uses all defaults and has no optimizations. It reads the service's user table and creates no tables.
import 'reflect-metadata';
import { Controller, Get, Inject, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { getRepositoryToken, TypeOrmModule } from '@nestjs/typeorm';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

const { port, databaseUrl } = JSON.parse(process.env.BENCH_SETTINGS);

class User {}
PrimaryGeneratedColumn('uuid')(User.prototype, 'id');
Column('text')(User.prototype, 'email');
Entity('user_account')(User);

class AppController {
  constructor(users) {
    this.users = users;
  }

  health() {
    return { status: 'ok' };
  }

  listUsers() {
    return this.users.find({ take: 20 });
  }
}
Inject(getRepositoryToken(User))(AppController, undefined, 0);
get(['healthz', 'healthz/readiness'], 'health');
get('users', 'listUsers');
Controller()(AppController);

class AppModule {}
Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'postgres', url: databaseUrl, entities: [User] }),
    TypeOrmModule.forFeature([User]),
  ],
  controllers: [AppController],
})(AppModule);

const application = await NestFactory.create(AppModule, new FastifyAdapter());
application.enableShutdownHooks();
await application.listen(port, '127.0.0.1');

function get(path, method) {
  Get(path)(
    AppController.prototype,
    method,
    Object.getOwnPropertyDescriptor(AppController.prototype, method),
  );
}
