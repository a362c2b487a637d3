import { z } from 'zod';
import { readConfig } from '../../../gateway/config/read-config.ts';
import { startDevelopment } from '../../../gateway/development/start.ts';
import { openGateway } from '../../../gateway/open.ts';
import type { Faults } from '../../../gateway/operations/faults.ts';
import { openLogger } from '../../../gateway/operations/logger.ts';

/*
 * The service, with a fault of its own: the n-th call that is claimed breaks at the n-th point of BREAKS_AT, and where
 * nothing stands there it does not. For calls that come one after the other.
 */

const { BREAKS_AT } = z.object({ BREAKS_AT: z.string().transform(points => points.split(',')) }).parse(process.env);

let breaks_at: string | undefined;
const faults: Faults = {
  async reach(point) {
    if (point === 'after_claim') breaks_at = BREAKS_AT.shift();
    if (point === breaks_at) throw new Error(`the drawer is stuck ${point}`);
  },
};

const development = await startDevelopment(readConfig());
await openGateway(development.config, { logger: openLogger(development.config.log_level), faults });
