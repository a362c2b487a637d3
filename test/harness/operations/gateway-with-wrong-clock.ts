import pino from 'pino';
import { readConfig } from '../../../gateway/config/read-config.ts';
import { startDevelopment } from '../../../gateway/development/start.ts';
import { openGateway } from '../../../gateway/open.ts';

/** The service on a machine whose clock is off by that many milliseconds once the service runs. */
const [off_ms] = process.argv.slice(2).map(Number);

const now = Date.now;
const development = await startDevelopment(readConfig());
await openGateway(development.config, { logger: pino({ level: development.config.log_level }) });
Date.now = () => now() + (off_ms ?? 0);
