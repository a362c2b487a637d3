import pino from 'pino';
import { readConfig } from '../../../gateway/config/read-config.ts';
import { startDevelopment } from '../../../gateway/development/start.ts';
import { openGateway } from '../../../gateway/open.ts';
import { configuredSettling } from '../../../gateway/rails/open-rails.ts';

/** The service, but that a caller waits two seconds for the chain and not twenty. */
const WAIT_MS = 2_000;

const development = await startDevelopment(readConfig());
await openGateway(development.config, {
  logger: pino({ level: development.config.log_level }),
  openSettling: configuredSettling(undefined, WAIT_MS),
  wait_ms: WAIT_MS,
});
