import { z } from 'zod';
import { readConfig } from '../../../gateway/config/read-config.ts';
import { startDevelopment } from '../../../gateway/development/start.ts';
import { openGateway } from '../../../gateway/open.ts';
import { openLogger } from '../../../gateway/operations/logger.ts';
import { breakAt } from './break-at.ts';

/** The service as a separate process whose calls fail at the points of BREAKS_AT. */
const { BREAKS_AT } = z.object({ BREAKS_AT: z.string().transform(points => points.split(',')) }).parse(process.env);

const development = await startDevelopment(readConfig());
await openGateway(development.config, {
  logger: openLogger(development.config.log_level),
  faults: breakAt(BREAKS_AT),
});
