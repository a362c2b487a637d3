import pino from 'pino';
import { readConfig } from '../../../gateway/config.ts';
import { startDevelopment } from '../../../gateway/development/start.ts';
import { openGateway } from '../../../gateway/gateway.ts';
import { answer, given } from '../child/answer.ts';
import { openStandStillSettling, standStillChain } from '../stand-still.ts';

export interface GatewayReady {
  readonly url: string;
  readonly pay_to: `0x${string}`;
}

/** The whole service but for chain and hub. */
const development = await startDevelopment(readConfig(given<Record<string, string>>()));
const gateway = await openGateway(development.config, {
  logger: pino({ level: 'error' }, pino.destination(2)),
  openChain: standStillChain,
  openSettling: openStandStillSettling,
});
const ready: GatewayReady = { url: gateway.url, pay_to: development.config.pay_to_base as GatewayReady['pay_to'] };
answer(ready, {}, async () => {
  await gateway.close();
  await development.stop();
});
