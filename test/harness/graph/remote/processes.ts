import { randomBytes } from 'node:crypto';
import { type SubgraphName, subgraphNames } from '../../../../gateway/config/read-config.ts';
import { serveSubgraph } from '../../../../gateway/http/serve-subgraph.ts';
import type { FaultPoint } from '../../../../gateway/operations/faults.ts';
import type { DyingService } from '../../faults/dying-service.ts';
import { openGround } from '../../faults/ground.ts';
import type { RunningGateway } from '../../gateway.ts';
import { ownPort } from '../../own-port.ts';

export type Processes = Awaited<ReturnType<typeof openProcesses>>;
export type RemoteGraph = Awaited<ReturnType<typeof openRemoteGraph>>;

interface RemoteOptions {
  /** Subgraphs that run as separate processes. The gateway contains the others. */
  readonly remote?: readonly SubgraphName[];
  /** Subgraphs that do not run at the URL in the gateway's settings. */
  readonly unreachable?: readonly SubgraphName[];
  /** Audio models of the hub of all processes. */
  readonly audio_models?: readonly string[];
  /** Whether that hub is also the router. */
  readonly routed?: boolean;
  /** Replaces the URL of a subgraph in the gateway's settings, to record what is sent to it. */
  readonly between?: (url: string) => Promise<string>;
}

/** Starts each subgraph and the gateway as processes, like an operator. */
export async function openProcesses(): Promise<Awaited<ReturnType<typeof placesOf>> & { readonly url: string }> {
  const places = await placesOf({ remote: subgraphNames });
  const start = (name: SubgraphName) => places.startSubgraph(name);
  const gateway = places.ground.startProcess({ environment: places.gateway_environment });
  // The gateway and one subgraph start first, so that the other subgraphs find their code compiled and not all compete for the CPU.
  const [first, ...others] = subgraphNames;
  const [{ url }] = await Promise.all([gateway, first && start(first)]);
  await Promise.all(others.map(start));
  return { ...places, url };
}

/**
 * Subgraphs that a gateway reaches by their URLs, all in the test's process. There a subgraph can die like a killed process
 * (dying-service.ts), and starts again with a fifth of the CPU.
 */
export async function openRemoteGraph(options: RemoteOptions) {
  const places = await placesOf(options);
  const { ground, ports, subgraph_environment: environment } = places;
  const running = new Map<SubgraphName, DyingService>();
  const open = async (name: SubgraphName, point?: FaultPoint) => {
    const port = ports[name];
    const serving = { environment, options: { serve: serveSubgraph(name) }, ...(port !== undefined && { port }) };
    running.set(name, await ground.startDying({ ...serving, ...(point && { plan: { point } }) }));
  };
  // One after the other, because dying-service.ts cannot match leases to services that open at the same time.
  for (const name of options.remote ?? []) await open(name);
  const gateway = await ground.start({ environment: places.gateway_environment });
  const kill = async (name: SubgraphName) => running.get(name)?.kill();
  return {
    ...places,
    gateway,
    url: gateway.url,
    running: running as ReadonlyMap<SubgraphName, DyingService>,
    kill,
    /** Starts the subgraph again after the lease of its dead predecessor has ended. */
    async restart(name: SubgraphName): Promise<void> {
      await kill(name);
      await running.get(name)?.endLease();
      await open(name);
    },
    /** Starts the same subgraph so that it dies at that point. */
    async restartFaulty(name: SubgraphName, point: FaultPoint): Promise<void> {
      await kill(name);
      await open(name, point);
    },
    /** Starts the same subgraph as a process, which can receive signals. */
    async restartAsProcess(name: SubgraphName): Promise<RunningGateway> {
      await kill(name);
      return places.startSubgraph(name);
    },
  };
}

async function placesOf({ remote = [], unreachable = [], audio_models = [], routed = false, ...given }: RemoteOptions) {
  const { between = async (url: string) => url } = given;
  const ground = await openGround({ audio_models });
  const secret = randomBytes(32).toString('hex');
  const environment = { SUBGRAPH_SECRET: secret, ROUTER_URL: routed ? ground.hub.base_url : '' };
  const ports = await portsOf([...remote, ...unreachable]);
  const urls = Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, `http://127.0.0.1:${port}`]));
  const told: Record<string, string> = {};
  for (const [name, url] of Object.entries(urls)) told[name] = await between(url);
  return {
    ...ground,
    ground,
    secret,
    subgraph_environment: environment,
    gateway_environment: { ...environment, SUBGRAPH_URLS: JSON.stringify(told) },
    ports: ports as Readonly<Partial<Record<SubgraphName, number>>>,
    urls: urls as Readonly<Record<SubgraphName, string>>,
    startSubgraph(name: SubgraphName): Promise<RunningGateway> {
      const port = ports[name];
      return ground.startProcess({
        entry: 'gateway/commands/subgraph.ts',
        args: [name],
        environment,
        ...(port !== undefined && { port }),
      });
    },
  };
}

/** One after the other, so that no port is used twice. */
async function portsOf(names: readonly SubgraphName[]): Promise<Partial<Record<SubgraphName, number>>> {
  const ports: [SubgraphName, number][] = [];
  for (const name of names) ports.push([name, await ownPort()]);
  return Object.fromEntries(ports);
}
