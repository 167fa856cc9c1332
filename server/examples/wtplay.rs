fn main() {
    let args: Vec<String> = std::env::args().collect();
    let mut config = if args[2] == "dev" {
        proconsul::config::Config::dev()
    } else {
        proconsul::config::Config::default()
    };
    config.node_name = "n1".into();
    config.version = args[1].parse().unwrap();
    let listener = std::net::TcpListener::bind(&args[3]).unwrap();
    let server = proconsul::Server::builder()
        .config(config)
        .listener(listener)
        .start()
        .unwrap();
    println!("{}", server.addr());
    loop {
        std::thread::park();
    }
}
