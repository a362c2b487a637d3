import pino from 'pino';
import { readConfig } from '../../gateway/config.ts';
import { startDevelopment } from '../../gateway/development/start.ts';
import { openGateway } from '../../gateway/gateway.ts';
import { openStandStillSettling, standStillChain } from './stand-still.ts';

/** The whole service but for chain and hub; tells its parent what CPU it used, and ends when the parent does. */
const development = await startDevelopment(readConfig());
const gateway = await openGateway(development.config, {
  logger: pino({ level: 'error' }),
  openChain: standStillChain,
  openSettling: openStandStillSettling,
});
process.send?.({ url: gateway.url, pay_to: development.config.pay_to_base });
process.on('message', () => process.send?.({ cpu: process.cpuUsage() }));
process.on('disconnect', async () => {
  await gateway.close();
  await development.stop();
});
