import { AsyncLocalStorage } from 'node:async_hooks';
import { Server, Socket } from 'node:net';

/*
 * The sockets of one service among several in this process. A socket belongs to the service in whose asynchronous context it connects or
 * listens, because everything that a service does follows from its opening.
 */

const owners = new AsyncLocalStorage<ServiceSockets>();

/** All connections and ports of a service in this process, from its opening to its death. */
export class ServiceSockets {
  readonly #sockets = new Set<Socket>();
  readonly #servers = new Set<Server>();
  #closed = false;

  /** Assigns to this service every socket that `work` opens, now or later. */
  run<T>(work: () => T): T {
    return owners.run(this, work);
  }

  /**
   * Closes every socket and port at once, as the kernel does for a killed process. Bytes that were written before still arrive. Afterwards
   * no connection and no port is opened.
   */
  close(): void {
    this.#closed = true;
    for (const server of this.#servers) server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  connect(socket: Socket, work: () => Socket): Socket {
    if (this.#closed) {
      process.nextTick(() => socket.destroy(refused()));
      return socket;
    }
    this.#hold(socket);
    return work();
  }

  listen(server: Server, work: () => Server): Server {
    if (this.#closed) {
      process.nextTick(() => server.emit('error', refused()));
      return server;
    }
    this.#servers.add(server);
    server.on('connection', (socket: Socket) => this.#hold(socket));
    return work();
  }

  #hold(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }
}

const refused = () => Object.assign(new Error('the service is dead'), { code: 'ECONNREFUSED' });

const { connect } = Socket.prototype;
Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
  const work = (): Socket => Reflect.apply(connect, this, args);
  return owners.getStore()?.connect(this, work) ?? work();
};

const { listen } = Server.prototype;
Server.prototype.listen = function (this: Server, ...args: unknown[]) {
  const work = (): Server => Reflect.apply(listen, this, args);
  return owners.getStore()?.listen(this, work) ?? work();
};
