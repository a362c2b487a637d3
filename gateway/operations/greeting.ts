import type { Config } from '../config/read-config.ts';

/* Text that a person at a terminal reads at the start: the address, the stand-ins, and the next command to type. */

type GreetingConfig = Pick<Config, 'profile' | 'stand_ins' | 'data_dir' | 'solana'>;

/** Services that a stand-in can replace, by their variables. Every other stand-in is a key or an address. */
const services: Readonly<Record<string, string>> = {
  DATABASE_URL: 'Postgres',
  BASE_RPC_URL: 'Base',
  SOLANA_RPC_URL: 'Solana',
  HUBS: 'hubs',
  ROUTER_URL: 'router',
};

/** URL to open in a browser, where it shows a page about what the endpoint sells, what it costs and how to pay. */
export function pageToOpen(url: string): string {
  return `${url}/v1/chat/completions`;
}

export function greeting(url: string, config: GreetingConfig): string[] {
  return [
    'Spend receipt gateway',
    `  address    ${url}`,
    ...(config.profile === 'development' ? developmentLines(config) : [`  next       curl -s ${url}/health`]),
    '  stop       Ctrl-C: calls in progress are finished first',
    `  open       ${pageToOpen(url)}      (in a browser: what it sells, and how to pay)`,
    '',
  ];
}

/** Greeting of a process that serves one subgraph. */
export function subgraphGreeting(name: string, url: string, { base_url }: Pick<Config, 'base_url'>): string[] {
  return [
    `Spend receipt gateway, the ${name} subgraph alone`,
    `  address    ${url}`,
    `  next       SUBGRAPH_URLS='{"${name}":"${url}"}' npm start      (its gateway, at ${base_url})`,
    '  stop       Ctrl-C: calls in progress are finished first',
    '',
  ];
}

function developmentLines(config: GreetingConfig): string[] {
  const { stand_ins, data_dir } = config;
  const stood_in = stand_ins.flatMap(name => (isOffered(name, config) ? (services[name] ?? []) : []));
  const generated = stand_ins.filter(name => !Object.hasOwn(services, name));
  return [
    ...(stood_in.length > 0 ? [`  stand-ins  ${stood_in.join(', ')}: no real money moves`] : []),
    ...(generated.length > 0
      ? [`  generated  ${generated.length} keys and addresses, kept in ${data_dir}/secrets`]
      : []),
    '  next       npm run demo      (in a second terminal: a buyer pays, and checks the receipt)',
  ];
}

/** Whether the service of a stand-in is offered. On a machine without LiteSVM, no stand-in replaces Solana. */
function isOffered(name: string, { solana }: GreetingConfig): boolean {
  return name !== 'SOLANA_RPC_URL' || solana !== null;
}
