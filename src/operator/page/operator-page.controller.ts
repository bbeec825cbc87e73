// The operator's pages, for browsers. They show nothing by themselves: they ask the operator's API.
import { join } from 'node:path';
import { Controller, Inject } from '@nestjs/common';
import { PageController, SOURCE_DIRECTORY } from '../../platform/http/page.controller.js';

/**
 * @rule D113 The operator's pages are one document, whose addresses name no person. See public/main.js for what outlives a
 *   sign-in.
 */
@Controller('admin')
export class OperatorPageController extends PageController {
  constructor(@Inject(SOURCE_DIRECTORY) sourceDirectory: string) {
    super(join(sourceDirectory, 'operator', 'page', 'public'));
  }
}
