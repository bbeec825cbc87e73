// The service must not start with a route that checks no right.
import 'reflect-metadata';
import { Controller, Get } from '@nestjs/common';
import { refuseOpenRoutes, thingIn } from '../../../../src/workspace/operations/api-controller.decorator.js';
import { Operation } from '../../../../src/workspace/operations/operation.decorator.js';

const answer = { status: 204 } as const;
const errors = [] as const;

@Controller('api/v1/projects/:projectId/things')
class Bound {
  @Get(':thingId')
  @Operation({ summary: '', right: 'workflow:read', answer, errors })
  get(): void {
    // Nothing is done here.
  }
}

@Controller('api/v1/things')
class Unbound {
  @Get(':thingId')
  @Operation({ summary: '', right: 'workflow:read', answer, errors })
  get(): void {
    // Nothing is done here.
  }
}

@Controller('api/v1/things')
class Asking {
  @Get()
  @Operation({ summary: '', right: 'workflow:read', asksItself: true, answer, errors })
  list(): void {
    // Nothing is done here.
  }

  @Get('all')
  @Operation({ summary: '', right: 'user:read', answer, errors })
  all(): void {
    // Nothing is done here.
  }

  helper(): void {
    // No route.
  }
}

@Controller('api/v1/things')
class Forgotten {
  @Get()
  list(): void {
    // Nothing is done here.
  }
}

describe('the routes of the API', () => {
  it('[D30] may name the thing that a right applies to, check it themselves, or need a right on the instance', () => {
    expect(() => refuseOpenRoutes([Bound, Asking])).not.toThrow();
  });

  it('[D30] prevent startup if the right would not be checked', () => {
    expect(() => refuseOpenRoutes([Bound, Unbound])).toThrow(
      'Unbound.get asks for workflow:read, and its path names nothing',
    );
  });

  it('[D30] prevent startup without an operation', () => {
    expect(() => refuseOpenRoutes([Forgotten])).toThrow('no @Operation');
  });

  it('ask for the project first', () => {
    expect(thingIn(['workflowId', 'projectId'])?.kind).toBe('project');
    expect(thingIn(['userId'])).toBeUndefined();
  });
});
