import pino from 'pino';
import { readConfig, type SubgraphName } from '../../../gateway/config/read-config.ts';
import { startDevelopment } from '../../../gateway/development/start.ts';
import { serveSubgraph } from '../../../gateway/http/serve-subgraph.ts';
import { openGateway } from '../../../gateway/open.ts';
import { idle_ms } from '../../harness/idle.ts';
import { serveTasks, startOptions } from '../child/answer.ts';
import { openStandStillSettling, standStillChain, standStillHubs } from '../stand-still.ts';

export interface GatewayReady {
  readonly url: string;
  readonly pay_to: `0x${string}`;
}

/** Variables of the service, and two options of the bench. */
export interface GatewayGiven extends Readonly<Record<string, string | undefined>> {
  /** Name of the only subgraph to serve. */
  readonly SUBGRAPH?: SubgraphName;
  /** With `asked`, hubs are called over HTTP, as in production. */
  readonly HUBS_ARE?: 'asked';
}

/** The whole service with a chain that does nothing and hubs without HTTP. */
const { SUBGRAPH, HUBS_ARE, ...variables } = startOptions<GatewayGiven>();
const development = await startDevelopment(readConfig(variables), { idle_ms });
const gateway = await openGateway(development.config, {
  logger: pino({ level: 'error' }, pino.destination(2)),
  ...(HUBS_ARE !== 'asked' && { openHubs: standStillHubs }),
  openChain: standStillChain,
  openSettling: openStandStillSettling,
  ...(SUBGRAPH && { serve: serveSubgraph(SUBGRAPH) }),
});
const ready: GatewayReady = { url: gateway.url, pay_to: development.config.pay_to_base as GatewayReady['pay_to'] };
serveTasks(ready, {}, async () => {
  await gateway.close();
  await development.stop();
});
