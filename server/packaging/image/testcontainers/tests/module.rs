//! What the module for Consul asks of an image: `../test` asks it of ours.

use testcontainers_modules::consul::Consul;
use testcontainers_modules::testcontainers::Image;
use testcontainers_modules::testcontainers::core::WaitFor;

#[test]
fn the_module_waits_for_a_line_on_standard_output_and_gives_no_command() {
    let module = Consul::default().with_local_config("{}");
    let line = WaitFor::message_on_stdout("agent: Consul agent running!");
    assert_eq!(
        format!("{:?}", module.ready_conditions()),
        format!("{:?}", [line])
    );
    let command = module.cmd().into_iter().map(Into::into);
    assert_eq!(command.collect::<Vec<std::borrow::Cow<'_, str>>>().len(), 0);
    let variables = module.env_vars().into_iter().map(|(name, _)| name.into());
    let variables: Vec<std::borrow::Cow<'_, str>> = variables.collect();
    assert_eq!(variables, ["CONSUL_LOCAL_CONFIG"]);
}
