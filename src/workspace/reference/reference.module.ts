// The description of the public API.
import { Module } from '@nestjs/common';
import { ApiDescription } from './api-description.js';
import { ReferenceController } from './reference.controller.js';

@Module({ controllers: [ReferenceController], providers: [ApiDescription] })
export class ReferenceModule {}
