import pino from 'pino';
import { readConfig } from '../../../gateway/config/read-config.ts';
import { startDevelopment } from '../../../gateway/development/start.ts';
import { openGateway } from '../../../gateway/open.ts';

/** The service as it is on a log of many leaves: before it serves it audits the newest of them, here one. */
const development = await startDevelopment(readConfig());
await openGateway(development.config, {
  logger: pino({ level: development.config.log_level }),
  audit_leaves: 1,
});
