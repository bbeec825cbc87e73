// The description of the public API.
import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { ApiDescription } from './api-description.js';
import { ReferenceFiles } from './reference-files.js';
import { ReferenceController } from './reference.controller.js';
import type { ReferenceOptions } from './reference-files.js';
import { REFERENCE_OPTIONS } from './reference-files.js';

@Module({})
export class ReferenceModule {
  static register(options: ReferenceOptions): DynamicModule {
    return {
      module: ReferenceModule,
      controllers: [ReferenceController],
      providers: [ApiDescription, ReferenceFiles, { provide: REFERENCE_OPTIONS, useValue: options }],
    };
  }
}
