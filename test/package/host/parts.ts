// What the two examples are made of, for a host that takes the parts of one of them.
import { ApiController as OwnApi } from '../../../examples/own-product/src/api/api.controller.js';
import { PageController as OwnPage } from '../../../examples/own-product/src/api/page.controller.js';
import { Product1700000000000 as OwnTables } from '../../../examples/own-product/src/migrations/1700000000000-product.js';
import { Session } from '../../../examples/own-product/src/sessions/session.entity.js';
import { User as OwnUser } from '../../../examples/own-product/src/users/user.entity.js';
import { ApiController } from '../../../examples/with-defaults/src/api.controller.js';
import { PageController } from '../../../examples/with-defaults/src/page.controller.js';
import { Product1700000000000 } from '../../../examples/with-defaults/src/product.migration.js';
import { User } from '../../../examples/with-defaults/src/user.entity.js';

/** Of a product on Express with users and sessions of its own. */
export const OWN = {
  entities: [OwnUser, Session],
  controllers: [OwnApi, OwnPage],
  migration: OwnTables,
};

/** Of a product with users of its own, and else the package's parts. */
export const DEFAULTS = {
  entities: [User],
  controllers: [ApiController, PageController],
  migration: Product1700000000000,
};
