import { randomBytes } from 'node:crypto';
import { type SubgraphName, subgraphNames } from '../../../../gateway/config/read-config.ts';
import type { FaultPoint } from '../../../../gateway/operations/faults.ts';
import { openGround } from '../../faults/ground.ts';
import type { RunningGateway } from '../../gateway.ts';
import { ownPort } from '../../own-port.ts';

export type Processes = Awaited<ReturnType<typeof openProcesses>>;

interface ProcessesOptions {
  /** Which subgraphs are processes of their own; the gateway has the others in itself. */
  readonly remote?: readonly SubgraphName[];
  /** Which are nowhere, where the gateway looks for them. */
  readonly unreachable?: readonly SubgraphName[];
  /** Of the hub that all of them ask. */
  readonly audio_models?: readonly string[];
  /** Whether that hub is the router, too. */
  readonly routed?: boolean;
  /** What the gateway is told instead of where a subgraph is: somebody who listens in on the way. */
  readonly between?: (url: string) => Promise<string>;
}

/** Subgraphs as processes of their own, behind a gateway. */
export async function openProcesses({
  remote = subgraphNames,
  unreachable = [],
  audio_models = [],
  routed = false,
  between = async url => url,
}: ProcessesOptions = {}) {
  const ground = await openGround({ audio_models });
  const secret = randomBytes(32).toString('hex');
  const environment = { SUBGRAPH_SECRET: secret, ROUTER_URL: routed ? ground.hub.base_url : '' };
  const ports = await portsOf([...remote, ...unreachable]);
  const urls = Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, `http://127.0.0.1:${port}`]));

  const startSubgraph = (name: SubgraphName): Promise<RunningGateway> =>
    ground.startProcess({ entry: 'gateway/commands/subgraph.ts', args: [name], port: ports[name], environment });
  const running = new Map<SubgraphName, RunningGateway>();
  const told: Record<string, string> = {};
  for (const [name, url] of Object.entries(urls)) told[name] = await between(url);
  const startGateway = () =>
    ground.startProcess({ environment: { ...environment, SUBGRAPH_URLS: JSON.stringify(told) } });
  const startOne = async (name: SubgraphName) => void running.set(name, await startSubgraph(name));
  // Not all at once: each has its time to come up, and the second of a kind finds its code compiled.
  const [first, ...others] = remote;
  const [gateway] = await Promise.all([startGateway(), first && startOne(first)]);
  await Promise.all(others.map(startOne));

  return {
    ...ground,
    gateway,
    url: gateway.url,
    urls: urls as Readonly<Record<SubgraphName, string>>,
    secret,
    running,
    async kill(name: SubgraphName): Promise<void> {
      await running.get(name)?.kill('SIGKILL');
    },
    async restart(name: SubgraphName): Promise<void> {
      await running.get(name)?.kill('SIGKILL');
      running.set(name, await startSubgraph(name));
    },
    /** Stopped as an operator does it: its exit code. */
    stop: (name: SubgraphName): Promise<number | null> | undefined => running.get(name)?.stop(),
    /** The same subgraph, which ends itself where it is told to. */
    async restartFaulty(name: SubgraphName, point: FaultPoint): Promise<RunningGateway> {
      await running.get(name)?.kill('SIGKILL');
      const fault = { FAULT_POINT: point, FAULT_REACHED: '1', FAULT_SIGNAL: 'SIGKILL', FAULT_SUBGRAPH: name };
      const faulty = await ground.startProcess({
        entry: 'test/harness/faults/gateway-with-faults.ts',
        port: ports[name],
        environment: { ...environment, ...fault },
      });
      running.set(name, faulty);
      return faulty;
    },
  };
}

/** One after the other, so that none is given twice. */
async function portsOf(names: readonly SubgraphName[]): Promise<Record<SubgraphName, number>> {
  const ports: [SubgraphName, number][] = [];
  for (const name of names) ports.push([name, await ownPort()]);
  return Object.fromEntries(ports) as Record<SubgraphName, number>;
}
