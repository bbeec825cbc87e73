// The description of the public API.
import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { PublicFolder, SOURCE_DIRECTORY } from '../../platform/http/page.controller.js';
import { ApiDescription } from './api-description.js';
import { ReferenceController } from './reference.controller.js';

@Module({
  controllers: [ReferenceController],
  providers: [
    ApiDescription,
    { provide: PublicFolder, inject: [SOURCE_DIRECTORY], useFactory: publicFolder },
  ],
})
export class ReferenceModule {}

/** The reference page and its files. */
function publicFolder(sourceDirectory: string): PublicFolder {
  return new PublicFolder(join(sourceDirectory, 'workspace', 'reference', 'public'));
}
