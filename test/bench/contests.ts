import type { Contest } from './contest.ts';
import { a2aPaidCall } from './contests/a2a-call.ts';
import { append } from './contests/append.ts';
import { boardGrowth, boardList } from './contests/board-list.ts';
import { exported } from './contests/export.ts';
import { fanOut } from './contests/fan-out.ts';
import { besieged, crowded, forged, forgedAgain } from './contests/forgeries.ts';
import { growth } from './contests/growth.ts';
import { mcpPage, mcpPaidCall } from './contests/mcp-call.ts';
import { pageInProcess, pageRemote } from './contests/page-graphql.ts';
import { pageByRest } from './contests/page-rest.ts';
import { askedCall, paidCall, verifiedCall } from './contests/paid-call.ts';
import { proxyByKey, proxyByPayment, streamByPayment } from './contests/proxy.ts';
import { settlements } from './contests/settlements.ts';
import { tiles } from './contests/tiles.ts';
import { unpaid } from './contests/unpaid.ts';
import { verification } from './contests/verification.ts';

/** All of the table, in its order. */
export const contests: readonly Contest[] = [
  paidCall,
  askedCall,
  verifiedCall,
  proxyByPayment,
  proxyByKey,
  streamByPayment,
  append,
  fanOut,
  pageByRest,
  pageInProcess,
  pageRemote,
  boardList,
  boardGrowth,
  mcpPaidCall,
  mcpPage,
  a2aPaidCall,
  settlements,
  unpaid,
  forged,
  forgedAgain,
  besieged,
  crowded,
  growth,
  exported,
  tiles,
  verification,
];
