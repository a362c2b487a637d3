import { boardSubgraph } from '../subgraphs/board/index.ts';
import { bookSubgraph } from '../subgraphs/book/index.ts';
import { receiptSubgraph } from '../subgraphs/receipt/index.ts';
import { sessionSubgraph } from '../subgraphs/session/index.ts';
import type { Subgraph } from '../subgraphs/subgraph.ts';
import type { SubgraphName } from './config/read-config.ts';

/** Builds one, for this process. */
export const subgraphNamed: Readonly<Record<SubgraphName, () => Promise<Subgraph>>> = {
  receipt: receiptSubgraph,
  book: bookSubgraph,
  session: sessionSubgraph,
  board: boardSubgraph,
};

/** Every subgraph of the graph. */
export function subgraphs(): Promise<Subgraph[]> {
  return Promise.all(Object.values(subgraphNamed).map(build => build()));
}
