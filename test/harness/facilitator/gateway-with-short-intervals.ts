import pino from 'pino';
import { readConfig } from '../../../gateway/config/read-config.ts';
import { startDevelopment } from '../../../gateway/development/start.ts';
import { openGateway } from '../../../gateway/open.ts';
import { shortIntervals } from './short-intervals.ts';

/** The service with short intervals, as a separate process. */
const development = await startDevelopment(readConfig());
await openGateway(development.config, { logger: pino({ level: development.config.log_level }), ...shortIntervals });
